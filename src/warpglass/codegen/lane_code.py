"""Code for loops that lanes run one after the other (lane_loops.py), in front of the same loop for all lanes.

What lanes need is put into buffers, an element a lane; each lane takes its own, goes round until it leaves
the loop, and puts back what is read later. Since such a loop only loads, a lane can begin again, or be left
to the loop for all lanes as if it had not begun: that is done with it and all lanes behind it when the launch
is to stop, and when an access is in no range, so faults are those of the loop for all lanes. Accesses in
another range than the site remembers have it look for theirs, a number of times for each run of the warp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..program import Branch, Jump, Program
from .access import Access, Bounds
from .builder import Builder
from .context import SITE_WORDS
from .dispatch import Dispatch
from .lane_loops import Group, LaneLoop
from .nans import LazyNanLanes
from .one_lane import Checked, LaneRegisters, OneLane
from .steps import Steps
from .values import Value

# Ranges that lanes on their own look for in one run of a warp.
_PATIENCE = 8
# More rounds than any loop has.
_ENDLESS = (1 << 63) - 1


class LaneCode:
    """Emits the loops of one program; `slots` are the stack slots that they need."""

    def __init__(self, program: Program, loops: Mapping[int, LaneLoop], warp: Steps, dispatch: Dispatch):
        self.loops = loops
        self._program = program
        self._warp = warp
        self._dispatch = dispatch
        self._builder: Builder = warp.lanes.builder
        self._slots: list[str] = []
        if loops:
            assert isinstance(warp.lanes, LazyNanLanes)
            self._lane = OneLane(warp.lanes)
            self._registers = LaneRegisters(warp.registers)
            self._steps = Steps(self._lane, self._registers, warp.symbols)

    def declare(self) -> list[str]:
        """The stack slots, at the function's start."""
        if not self.loops:
            return []
        patience = ["  %patience = alloca i32", f"  store i32 {_PATIENCE}, ptr %patience"]
        return [*patience, *self._slots, *self._registers.declare()]

    def attempt(self, index: int) -> None:
        """At the start of a loop's header: let lanes run it alone; what is emitted next serves the rest."""
        loop = self.loops.get(index)
        if loop is not None:
            _Attempt(self, loop).emit()


class _Attempt:
    """One loop's code."""

    def __init__(self, code: LaneCode, loop: LaneLoop):
        self.code = code
        self.loop = loop
        self.b = code._builder
        self.dispatch = code._dispatch
        self.name = f"alone{loop.header}"
        self.access: Access = code._lane.access
        self.sites: dict[int, int] = {}  # by a group's leader
        self.misses: list[tuple[str, Group, str]] = []  # label, group, address

    def emit(self) -> None:
        b, loop, name = self.b, self.loop, self.name
        abreast = b.label("abreast")
        b.branch(b.value(f"icmp eq i32 {b.load('i32', '%patience')}, 0"), abreast, f"{name}_begin")
        b.place(f"{name}_begin")
        self._lay_out()
        b.branch(self._side_by_side(), f"{name}_beside", f"{name}_open")
        b.place(f"{name}_open")
        self._open()
        b.place(f"{name}_lane")
        lane = b.first_lane(b.load(b.lanes, f"%{name}.rest"))
        self._take(lane)
        self._prepare(lane)
        b.jump(f"{name}_{loop.header}")
        for index in loop.blocks:
            self._block(index)
        self._again()
        for target in loop.exits:
            self._leave(target, lane)
        b.place(f"{name}_next")
        rest = self._others(b.load(b.lanes, f"%{name}.rest"))
        b.store(b.lanes, rest, f"%{name}.rest")
        b.branch(b.value(f"icmp eq {b.lanes} {rest}, 0"), f"{name}_done", f"{name}_lane")
        self._search()
        b.place(f"{name}_done")
        self._collect()
        self.dispatch.choose(loop.exits, loop.header)
        # The rest of the lanes do as if they had not begun.
        ways = {"stop": self.dispatch.back(loop.header), "leave": abreast, "retry": f"{name}_begin"}
        for way, to in ways.items():
            b.place(f"{name}_{way}")
            self._collect()
            b.store(b.lanes, b.load(b.lanes, f"%{name}.rest"), f"%lanes_{loop.header}")
            b.jump(to)
        b.place(f"{name}_beside")
        b.store(b.lanes, b.load(b.lanes, f"%{name}.rest"), f"%lanes_{loop.header}")
        b.jump(abreast)
        b.place(abreast)
        self.dispatch.entries[loop.header] = abreast

    # ------------------------------------------------------------------------------------ lanes and buffers
    def _buffer(self, register: str) -> tuple[str, str]:
        """A register's buffer and the type of its elements."""
        type_ = self.code._registers.types[register]
        return f'%"{self.name}.{register[1:]}"', "i8" if type_ == "i1" else type_

    def _lay_out(self) -> None:
        """Put what lanes need where each finds its own."""
        b, loop, code = self.b, self.loop, self.code
        registers, lanes = code._warp.registers, code._warp.lanes
        mask = b.load(b.lanes, f"%lanes_{loop.header}")
        code._slots.append(f"  %{self.name}.rest = alloca {b.lanes}")
        b.store(b.lanes, mask, f"%{self.name}.rest")
        b.store(b.lanes, "0", f"%lanes_{loop.header}")
        for target in loop.exits:
            code._slots.append(f"  %{self.name}.to{target} = alloca {b.lanes}")
            b.store(b.lanes, "0", f"%{self.name}.to{target}")
        registers.enter(frozenset())
        self.scalars: dict[str, str] = {}
        self.buffered: list[str] = []
        for register in sorted(loop.read | loop.kept):
            value = registers.read(register)
            if value.uniform:
                known = value.constant is not None
                self.scalars[register] = code._registers.take(register) if known else value.ir
                if register not in loop.written:
                    code._registers.put(register, value.ir)
                continue
            place, element = self._buffer(register)
            text = lanes.as_vector(value).ir
            if value.type == "i1":
                text = b.value(f"zext {b.vector('i1')} {text} to {b.vector('i8')}")
            code._slots.append(f"  {place} = alloca {b.vector(element)}, align 64")
            b.store(b.vector(element), text, place, ", align 64")
            self.buffered.append(register)

    def _place(self, register: str, lane: str) -> tuple[str, str]:
        buffer, element = self._buffer(register)
        return self.b.value(f"getelementptr {element}, ptr {buffer}, i64 {lane}"), element

    def _others(self, lanes: str) -> str:
        """All but the lowest of some lanes."""
        b = self.b
        return b.value(f"and {b.lanes} {lanes}, {b.value(f'sub {b.lanes} {lanes}, 1')}")

    def _take(self, lane: str) -> None:
        """Let the registers hold what a lane enters the loop with."""
        b, registers = self.b, self.code._registers
        for register in self.buffered:
            if register in self.loop.read:
                place, element = self._place(register, lane)
                text = b.load(element, place)
                if registers.types[register] == "i1":
                    text = b.value(f"trunc i8 {text} to i1")
                registers.put(register, text)
        for register, text in self.scalars.items():
            if register in self.loop.written:
                registers.put(register, text)

    def _side_by_side(self) -> str:
        """An i1 that holds if the first two lanes load side by side, or from one place, first: as all may."""
        b, first = self.b, self.loop.first
        assert first.base is not None
        one = b.load(b.lanes, f"%{self.name}.rest")
        more = self._others(one)
        lanes = [b.first_lane(one), b.value(f"and i64 {b.first_lane(more)}, {b.width - 1}")]
        addresses: list[str] = []
        for lane in lanes:
            self._take(lane)
            self.code._registers.enter(frozenset())
            for step in self.loop.slice_:
                self.code._steps.run(step, "-1", frozenset())
            addresses.append(self.code._registers.read(first.base).ir)
        apart = b.value(f"sub i64 {addresses[1]}, {addresses[0]}")
        expected = b.value(f"mul i64 {b.value(f'sub i64 {lanes[1]}, {lanes[0]}')}, {first.size}")
        near = [b.value(f"icmp eq i64 {apart}, {distance}") for distance in ("0", expected)]
        return b.value(f"select i1 {b.someone(more)}, i1 {b.value(f'or i1 {near[0]}, {near[1]}')}, i1 false")

    # ------------------------------------------------------------------------------------ ranges
    def _open(self) -> None:
        """Find the ranges of the accesses, and go on with a lane unless their roots lie unevenly."""
        b, loop = self.b, self.loop
        self.limits: dict[int, tuple[Bounds, str]] = {}
        places: dict[object, tuple[int, Bounds]] = {}
        for group in loop.groups:
            if group.place not in places:
                self.access.step = group.leader
                site = self.access.new_site(group.space, False, group.size)
                places[group.place] = site, self.access.bounds(site)
            self.sites[group.leader], bounds = places[group.place]
            more, limit = (group.high - group.low) // group.size - 1, bounds.limit
            if more:
                limit = b.call("i64", "llvm.usub.sat.i64", [("i64", limit), ("i64", str(more))])
            self.limits[group.leader] = bounds, limit
        self._count_rounds()
        uneven = "0"
        for group in loop.groups:
            if self._aligned(group):
                from_root = b.value(
                    f"sub i64 {self.scalars[group.root or '']}, {self.limits[group.leader][0].low}"
                )
                uneven = b.value(f"or i64 {uneven}, {b.value(f'and i64 {from_root}, {group.size - 1}')}")
        b.branch(
            b.value(f"icmp ne i64 {uneven}, 0"), f"{self.name}_leave", f"{self.name}_lane", unlikely=True
        )

    def _aligned(self, group: Group) -> bool:
        """Whether it is found in front of the loop that a group's root lies whole elements from its range."""
        return group.stride is None and group.size > 1 and group.root in self.scalars

    def _count_rounds(self) -> None:
        """How many rounds each lane may go before an access that moves evenly leaves its range."""
        b, whole = self.b, self.b.vector("i64")
        self.counted = [group for group in self.loop.groups if group.stride is not None]
        if not self.counted:
            return
        registers, lanes = self.code._warp.registers, self.code._warp.lanes
        least = b.splat("i64", str(_ENDLESS))
        for group in self.counted:
            assert group.base is not None
            bounds, limit = self.limits[group.leader]
            start = b.splat("i64", b.value(f"sub i64 {bounds.low}, {group.low}"))
            inside = b.value(f"sub {whole} {lanes.as_vector(registers.read(group.base)).ir}, {start}")
            if group.size > 1:
                shift = b.splat("i64", str(group.size.bit_length() - 1))
                inside = b.call(
                    whole, f"llvm.fshr.{b.suffix('i64')}", [(whole, inside)] * 2 + [(whole, shift)]
                )
            within = b.value(f"icmp ult {whole} {inside}, {b.splat('i64', limit)}")
            rounds = b.splat("i64", str(_ENDLESS))
            if group.stride:
                last = b.splat("i64", b.value(f"sub i64 {limit}, 1"))
                further = b.value(f"sub {whole} {last}, {inside}")
                shift = b.splat("i64", str(group.stride.bit_length() - 1))
                further = b.value(f"lshr {whole} {further}, {shift}")
                rounds = b.value(f"add {whole} {further}, {b.splat('i64', '1')}")
            none = f"{whole} zeroinitializer"
            rounds = b.value(f"select {b.vector('i1')} {within}, {whole} {rounds}, {none}")
            least = b.call(whole, f"llvm.umin.{b.suffix('i64')}", [(whole, least), (whole, rounds)])
        buffer = f"%{self.name}.rounds"
        self.code._slots.append(f"  {buffer}.of = alloca {whole}, align 64")
        self.code._slots.append(f"  {buffer} = alloca i64")
        b.store(whole, least, f"{buffer}.of", ", align 64")

    def _prepare(self, lane: str) -> None:
        """Let a lane's accesses be checked."""
        b, one = self.b, self.code._lane
        one.groups = {step: group for group in self.loop.groups for step in group.steps}
        one.missed = self._missed
        one.ranges = {group.leader: self._range(group) for group in self.loop.groups}
        if self.counted:
            buffer = f"%{self.name}.rounds"
            place = b.value(f"getelementptr i64, ptr {buffer}.of, i64 {lane}")
            b.store("i64", b.load("i64", place), buffer)

    def _range(self, group: Group) -> Checked:
        """The range that a group is checked against."""
        b = self.b
        bounds, limit = self.limits[group.leader]
        root = "0" if group.root is None else self.code._registers.take(group.root)
        host, from_root = (
            b.value(f"add i64 {bounds.low}, {bounds.delta}"),
            b.value(f"sub i64 {root}, {bounds.low}"),
        )
        aligned = self._aligned(group)
        if aligned:
            limit = b.value(f"shl i64 {limit}, {group.size.bit_length() - 1}")
        return Checked(bounds.low, host, limit, root, from_root, aligned, group.stride is not None)

    def _leave(self, target: int, lane: str) -> None:
        """A lane goes to a block behind the loop."""
        b, registers = self.b, self.code._registers
        b.place(f"{self.name}_to_{target}")
        for register in sorted(self.loop.kept):
            place, element = self._place(register, lane)
            text = registers.take(register)
            if registers.types[register] == "i1":
                text = b.value(f"zext i1 {text} to i8")
            b.store(element, text, place)
        rest, left = b.load(b.lanes, f"%{self.name}.rest"), f"%{self.name}.to{target}"
        bit = b.value(f"and {b.lanes} {rest}, {b.value(f'sub {b.lanes} 0, {rest}')}")
        b.store(b.lanes, b.value(f"or {b.lanes} {b.load(b.lanes, left)}, {bit}"), left)
        b.jump(f"{self.name}_next")

    def _collect(self) -> None:
        """Give the warp what its lanes have come to and send them on."""
        b, loop, registers = self.b, self.loop, self.code._warp.registers
        registers.enter(loop.kept)
        for register in sorted(loop.kept):
            place, element = self._buffer(register)
            text = b.load(b.vector(element), place, ", align 64")
            if element == "i8" and registers.types[register] == "i1":
                text = b.value(f"trunc {b.vector('i8')} {text} to {b.vector('i1')}")
            registers.write(register, Value(registers.types[register], text))
        for target in loop.exits:
            self.dispatch.send(loop.header, target, b.load(b.lanes, f"%{self.name}.to{target}"), add=True)

    # ------------------------------------------------------------------------------------ one lane's loop
    def _block(self, index: int) -> None:
        b, code = self.b, self.code
        block = code._program.blocks[index]
        b.place(f"{self.name}_{index}")
        if self.counted:
            self._spend_round()
        live = (code._program.live[after] for after in block.successors)
        code._registers.enter(frozenset().union(*live))
        for step in block.steps:
            code._steps.run(step, "-1", frozenset())
        match block.end:
            case Branch(step, _, _, taken, other):
                guard = step.instruction.guard
                assert guard is not None, "a branch terminator is guarded"
                b.branch(code._steps.predicate(guard).ir, self._to(taken), self._to(other))
            case Jump(target):
                b.jump(self._to(target))
            case _:
                raise AssertionError(f"{block.end} in a loop for one lane")

    def _spend_round(self) -> None:
        b, place, on = self.b, f"%{self.name}.rounds", self.b.label("on")
        left = b.load("i64", place)
        b.branch(b.value(f"icmp eq i64 {left}, 0"), f"{self.name}_spent", on, unlikely=True)
        b.place(on)
        b.store("i64", b.value(f"sub i64 {left}, 1"), place)

    def _to(self, target: int) -> str:
        if target == self.loop.header:
            return f"{self.name}_again"
        return f"{self.name}_{target}" if target in self.loop.blocks else f"{self.name}_to_{target}"

    def _again(self) -> None:
        """The jump back, which looks at the stop flag."""
        b = self.b
        b.place(f"{self.name}_again")
        stop = b.value("load volatile i32, ptr %stop")
        halted = b.value(f"icmp ne i32 {stop}, 0")
        b.branch(halted, f"{self.name}_stop", f"{self.name}_{self.loop.header}", unlikely=True)

    # ------------------------------------------------------------------------------------ other ranges
    def _missed(self, group: Group, address: str) -> str:
        label = self.b.label("missed")
        self.misses.append((label, group, address))
        return label

    def _search(self) -> None:
        """Where an access is in another range than its site's: look for it and let the lanes begin again."""
        b = self.b
        for label, group, address in self.misses:
            b.place(label)
            self._look([(group, address)])
        if self.counted:
            b.place(f"{self.name}_spent")
            bases = [(group, self.code._registers.take(group.base or "")) for group in self.counted]
            self._look([(group, b.value(f"add i64 {base}, {group.low}")) for group, base in bases])

    def _look(self, accesses: Sequence[tuple[Group, str]]) -> None:
        b, name = self.b, self.name
        left = b.value(f"sub i32 {b.load('i32', '%patience')}, 1")
        b.store("i32", left, "%patience")
        again = b.value(f"icmp ne i32 {left}, 0")
        for group, address in accesses:
            if group.space == "shared":
                again = "false"
                continue
            args = [
                ("ptr", "%context"),
                ("ptr", b.offset("%sites", self.sites[group.leader] * SITE_WORDS * 8)),
                ("i64", address),
                ("i64", str(group.size)),
                ("i1", "true" if group.space == "generic" else "false"),
            ]
            again = b.value(f"and i1 {again}, {b.call('i1', 'wg_learn_range', args)}")
        b.branch(again, f"{name}_retry", f"{name}_leave")
