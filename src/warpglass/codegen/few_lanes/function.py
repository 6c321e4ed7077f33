"""The function of one region: few lanes, side by side, from its header until they leave it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...program import Block, Branch, Pending
from ..builder import Builder
from ..context import SLOT
from ..control.block_code import MACHINE, BlockCode
from ..control.clock import Clock
from ..control.dispatch import Dispatch
from ..lanes.fast import FastLanes
from ..steps import Steps
from ..values.value import Value
from ..version import Version
from .apart import ApartLanes, ApartRegisters
from .exchange import Movement, lay_out
from .find import FewRegion, Form
from .guarded import Guarded
from .kept_changes import KeptChanges
from .lanes import FewLanes, FewRegisters
from .local import LocalMemoryOfOne

# How the function ends: what runs next is the lowest block with lanes, the lowest of those behind the region,
# nothing, the code for one lane, or, from BACK on, the jump back to a fair loop's header.
LOWEST, BEHIND, FAULTED, ENDED, LEFT, BACK = range(6)
# No block is that far.
NOWHERE = 1 << 30


def fair_headers(region: FewRegion, fair: frozenset[int]) -> list[int]:
    """The headers of fair loops in a region, in the order of their codes."""
    return sorted(header for header in fair if header in region)


class FewDispatch(Dispatch):
    """The choice among a region's blocks; whoever is to run a block outside leaves the function."""

    def __init__(self, code: FewFunction, pending: Pending):
        super().__init__(code.program, pending, code.registers, lambda word: "", lambda lanes: None)
        self._region = code.region
        self._fair = fair_headers(code.region, pending.fair)

    def _go(self, target: int, source: int | None) -> None:
        b, region = self._builder, self._region
        if target not in region:
            self._leave(BEHIND if region.alone and target > region.last else LOWEST)
            return
        if target in region.waits or (region.waits and target >= min(region.waits)):
            # Other lanes may wait here, or in front of it: then they run first, or with these.
            on, off = b.label("on"), b.label("others")
            b.branch(b.value(f"icmp ule i32 %ahead, {target}"), off, on)
            b.place(off)
            self._leave(LOWEST)
            b.place(on)
        super()._go(target, source)

    def _leave(self, code: int) -> None:
        self._builder.store("i32", str(code), "%code")
        self._builder.jump("leave")

    def _end_slice(self, header: int, label: str) -> None:
        """Leave at the last turn without having taken it: the warp's own header does, and yields."""
        self._builder.store("i32", "1", "%turns")
        self._leave(BACK + self._fair.index(header))


class FewFunction(BlockCode):
    """Emits the function of one region; `traps` are the warp function's."""

    def __init__(self, version: Version, region: FewRegion, form: Form, warp: BlockCode):
        lanes = warp.steps.lanes
        assert isinstance(lanes, FastLanes)
        own = (ApartLanes if form.again else FewLanes)(lanes, form)
        self.form = form
        self.region = region
        self._access = own.few_access
        self._copy: LocalMemoryOfOne | None = None  # of the lane's local memory
        if isinstance(own.local, LocalMemoryOfOne) and form.again and region.copies:
            self._copy = own.local
            self._copy.copied = True
        self.program = version.program
        self.builder = own.builder
        self.registers = FewRegisters(own.builder, warp.registers, form)
        self.sites: dict[int, int] = {}
        self._apart = None
        if isinstance(own, ApartLanes):
            steps = [
                step
                for block in version.program.blocks[region.header : region.last + 1]
                for step in block.steps
            ]
            steady = set(region.taken).difference(name for step in steps for name in step.writes)
            self.registers = ApartRegisters(own.builder, warp.registers, form, steady)
            own.bases = self.registers.bases
            self.sites = own.sites
            self._apart = own
        self.steps = Steps(own, self.registers, version.symbols)
        self.probes = ()
        self.traps = warp.traps
        self.clock = Clock(self.builder, self.program)
        self.blend = warp.blend
        pending = version.inference.pending
        known = frozenset((*range(region.header, region.last + 1), *region.exits))
        # One lane has no others to wait for.
        sets = tuple(frozenset[int]() if form.alone else one & known for one in pending.sets)
        self.pending = replace(pending, sets=sets)
        self.dispatch = FewDispatch(self, self.pending)
        self.exchange = lay_out(
            region, warp.registers, warp.registers.builder.width * self.program.local.size
        )
        self.kept = None
        if self._apart is not None and region.keeps:
            self._apart.kept = self.kept = KeptChanges(self.builder, self.exchange.kept)
        self._movement = Movement(self.builder, self.registers, warp.registers, self.exchange, form)

    @property
    def _blocks(self) -> list[int]:
        """The blocks in front of which its lanes may stand."""
        return sorted({*range(self.region.header, self.region.last + 1), *self.region.exits})

    @property
    def _waiting(self) -> list[int]:
        """The blocks where others of its lanes may stand while some are at the header.

        Lanes that have left wait outside; but where lanes take turns with those, all go on together.
        """
        blocks = self.pending.sets[self.region.header]
        return sorted(block for block in blocks if self.region.alone or block in self.region)

    @property
    def name(self) -> str:
        """The function's name."""
        return f"{self.form.name}_{self.region.header}"

    def parameters(self, wide: str) -> str:
        """The function's parameters; `wide` is the type of the warp's masks."""
        return f"ptr %context, i32 %warp, {MACHINE}, {wide} %everyone, i32 %ahead, ptr %turns, ptr %few"

    def emit(self, wide: str) -> str:
        """The function's IR."""
        b, region = self.builder, self.region
        self._movement.begin()
        if self._apart is not None:
            self._apart.begin()
            for index in self._blocks:
                b.store(b.lanes, "0", f"%lanes_{index}")
            b.store("i64", "0", "%rounds")
        if self.kept is not None:
            self.kept.begin()
        self._movement.take(region.taken)
        if self._copy is not None:
            self._copy.copy(back=False)
        b.store(b.lanes, self._movement.present, f"%lanes_{region.header}")
        b.jump(self.dispatch.turn(region.header))  # which the warp has taken
        for index in range(region.header, region.last + 1):
            self._block(index)
        self.dispatch.finish()
        self._ends()
        if self._apart is not None:
            self._apart.finish()
        head = [f"define internal i32 @{self.name}({self.parameters(wide)}) noinline #0 {{", "entry:"]
        return "\n".join([*head, *self._slots(), *b.lines, "}\n"])

    def _slots(self) -> Sequence[str]:
        lanes = self.builder.lanes
        return [
            *(f"  %lanes_{i} = alloca {lanes}\n  store {lanes} 0, ptr %lanes_{i}" for i in self._blocks),
            "  %again = alloca i64",
            "  %kept = alloca i64",
            f"  %code = alloca i32\n  store i32 {LOWEST}, ptr %code",
            f"  %before = alloca {lanes}\n  store {lanes} 0, ptr %before",
            "  %rounds = alloca i64\n  store i64 0, ptr %rounds",
            f"  %few_places = alloca [{self.form.width} x ptr], align 64",
            f"  %few_values = alloca [{64 * self.form.width} x i8], align 64",
            f"  %few_from = alloca [{self.form.width} x i64], align 64",
            f"  %few_to = alloca [{self.form.width} x i64], align 64",
            *([f"  %own = alloca [{self._copy.size + 3} x i8], align 16"] if self._copy is not None else []),
            *self.registers.declare(),
        ]

    def _block(self, index: int) -> None:
        b, block = self.builder, self.program.blocks[index]
        self.dispatch.begin(index)
        self.registers.enter(self._live_behind(block))
        mask = b.load(b.lanes, f"%lanes_{index}")
        b.store(b.lanes, "0", f"%lanes_{index}")
        if index == self.region.header and not self.form.alone:
            mask = self._foreseen(mask)
        if self.region.apart and index == self.region.header:
            count_rounds(b, mask, "%rounds")
        self._steps(block.steps, mask, self.blend[index])
        guarded = self.region.guarded.get(index)
        if guarded is None or self.form.again:
            self._end(index, block, mask)
            return
        self._run_guarded(guarded, block, mask)
        self._send(index, guarded.meeting, mask)
        self.dispatch.choose((guarded.meeting,), index)

    def _run_guarded(self, guarded: Guarded, block: Block, mask: str) -> None:
        """Run what is on one side of a block's end without a branch."""
        assert isinstance(block.end, Branch)
        guard = block.end.step.instruction.guard
        assert guard is not None, "a branch terminator is guarded"
        b, steps = self.builder, self.steps
        condition = steps.predicate(guard)
        if not guarded.taken:
            condition = steps.lanes.not_(condition)
        acting = b.votes(steps.lanes.as_vector(condition).ir, mask)
        before = {name: self.registers.read(name) for name in guarded.kept}
        self._access.unforeseen = True
        self._steps(self.program.blocks[guarded.side].steps, acting, self.blend[guarded.side])
        self._access.unforeseen = False
        for name, old in before.items():
            if old.offsets is not None:  # else those that do not act were left out
                new = self.registers.read(name)
                chosen = b.value(f"select i1 {b.someone(acting)}, {old.type} {new.ir}, {old.type} {old.ir}")
                self.registers.write(name, Value(old.type, chosen, old.offsets, nan=max(old.nan, new.nan)))

    def _foreseen(self, mask: str) -> str:
        """A round's mask, mostly that of the last: its loads need not wait for what those have told."""
        b = self.builder
        mask = b.foreseen(mask, b.load(b.lanes, "%before"), lambda: self._hand_over(mask))
        b.store(b.lanes, mask, "%before")
        return mask

    def _hand_over(self, mask: str) -> None:
        """Where only one lane is left, the code for one goes on."""
        b, header = self.builder, self.region.header
        b.store(b.lanes, mask, f"%lanes_{header}")
        everyone = mask
        for block in self._waiting:
            everyone = b.value(f"or {b.lanes} {everyone}, {b.load(b.lanes, f'%lanes_{block}')}")
        rest = b.value(f"and {b.lanes} {everyone}, {b.value(f'sub {b.lanes} {everyone}, 1')}")
        more = b.label("more")
        b.branch(b.someone(rest), more, "left")
        b.place(more)
        b.store(b.lanes, "0", f"%lanes_{header}")

    def _ends(self) -> None:
        b, movement = self.builder, self._movement
        if not self.form.alone:
            b.place("left")
            self.registers.enter(frozenset())
            movement.give(self.region.carried)
            self._leave_behind(self.region.header, self.exchange.left)
            b.store(b.lanes, "0", f"%lanes_{self.region.header}")
            b.store("i32", str(LEFT), "%code")
            b.jump("leave")
        b.place("leave")
        self.registers.enter(frozenset())
        movement.give(self.region.kept)
        if self._copy is not None and self.region.stores:
            self._copy.copy(back=True)
        for block, place in self.exchange.masks.items():
            self._leave_behind(block, place)
        if self.kept is not None:
            self.kept.end()
        if self.region.apart:
            place = b.offset("%few", self.exchange.rounds)
            b.store("i64", b.value(f"add i64 {b.load('i64', place)}, {b.load('i64', '%rounds')}"), place)
        b.emit(f"ret i32 {b.load('i32', '%code')}")
        for label, code in (("fault", FAULTED), ("stopped", ENDED)):
            b.place(label)
            place = b.offset("%context", 8 * SLOT["fault_lane"])
            lane = b.load("i64", place)
            of_warp = b.value(f"getelementptr i64, ptr %few_to, i64 {lane}")
            b.store("i64", b.load("i64", of_warp), place)
            b.emit(f"ret i32 {code}")

    def _leave_behind(self, block: int, place: int) -> None:
        """Tell which lanes stand in front of a block."""
        b, movement = self.builder, self._movement
        wide = movement.widen(b.load(b.lanes, f"%lanes_{block}"))
        b.store(movement.warp.lanes, wide, b.offset("%few", place))


def count_rounds(b: Builder, mask: str, place: str) -> None:
    """Add the lanes of a mask to an i64 in memory."""
    count = b.call(b.lanes, f"llvm.ctpop.{b.lanes}", [(b.lanes, mask)])
    if b.width != 64:
        count = b.value(f"{'zext' if b.width < 64 else 'trunc'} {b.lanes} {count} to i64")
    b.store("i64", b.value(f"add i64 {b.load('i64', place)}, {count}"), place)
