"""Which lanes can go through a loop without a look at each round, and what they need for it (rounds.py).

In front of the loop, for all lanes at once: how many rounds each has, where its even loads begin, and
whether all that was taken for granted holds and all those loads are within their ranges. Lanes of which that
is not so are left to the loop for all lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..builder import Builder, widened
from ..lanes.fast import FastLanes
from ..machine.target import misses_pages
from ..memory.access import Bounds
from ..registers import Registers
from ..values.value import Value
from .rounds import INVERSE, Atom, Comparison, Extent, Linear, Rounds, Walk
from .stores import Meeting

# Rounds up to which a lane goes without a look at the stop flag.
_MOST_ROUNDS = 1 << 16
# Lanes that go, and that are left to the loop for all lanes.
_MASKS = ("able", "others")
# Where a warp's lanes load one behind the other, over no more than so many bytes, the next warp's mostly go
# on there; which lane loads what is not known that well, so some bytes are added. Else it is a later lane's
# walk that is asked for.
_NEAR, _MORE, LATER = 1 << 16, 512, 8
# What is compared as 64 bits must be below this, so that nothing wraps.
_FAR = 1 << 62


class Preparation:
    """Emits what comes in front of one loop, for the lanes of a mask.

    `after` is how many rounds (i64) lanes have after the first.
    """

    def __init__(
        self,
        rounds: Rounds,
        lanes: FastLanes,
        registers: Registers,
        bounds: Callable[[Walk], Bounds],
        mask: str,
    ):
        self.b: Builder = lanes.builder
        self._rounds = rounds
        self._lanes = lanes
        self._registers = registers
        self._bounds = bounds
        self._whole = self.b.vector("i64")
        self._sums: dict[Linear, Value] = {}
        self._mask = mask
        self._able = self.b.mask_vector(mask)  # a vector of i1: lanes for which all holds that was looked at
        self.after = self._count(rounds.going)

    def counted(self) -> str:
        """An i1 that holds if the rounds of all lanes are known, which may have taken loads."""
        if not self._rounds.staying:
            return "true"
        b = self.b
        return b.value(f"icmp eq {b.lanes} {b.mask_bits(self._able)}, {self._mask}")

    def plan(self) -> Plan:
        """Look at the lanes."""
        b, rounds, after = self.b, self._rounds, self.after
        before = b.intrinsic("usub.sat", "i64", after, b.splat("i64", "1"), lanes=b.width)
        for test in rounds.tests:
            self._expect(test, after if test.last else before)
        for extent in rounds.extents:
            self._reach(extent)
        for name, (other, away) in rounds.together.items():
            self._together(name, other, away)
        all_ = self._do("add", after, "1")
        starts = [self._lanes.as_vector(self._sum(walk.first)).ir for walk in self._rounds.walks]
        hosts: list[str] = []
        for walk, start in zip(self._rounds.walks, starts, strict=True):
            self._need_inside(walk, start, all_)
            hosts.append(self._do("add", start, self._bounds(walk).delta))
        able = b.mask_bits(self._able)
        return Plan(able, all_, tuple(hosts), tuple(starts), lambda: self._strays(starts))

    # ------------------------------------------------------------------------------------ ranges
    def _element(self, walk: Walk, start: str) -> str:
        """How many elements behind its range's start a walk begins; many if it begins elsewhere."""
        inside = self._do("sub", start, self._bounds(walk).low)
        return self.b.elements(inside, walk.size, self.b.width)

    def _need_inside(self, walk: Walk, start: str, rounds: str) -> None:
        """Need all loads of so many rounds to be within the range."""
        b = self.b
        first = self._element(walk, start)
        limit, more = self._bounds(walk).limit, walk.span // walk.size
        if more:
            limit = b.intrinsic("usub.sat", "i64", limit, str(more))
        pace = walk.pace // walk.size
        if pace:
            last = self._do("sub", self._moved(first, pace, rounds), str(pace))
            first = b.intrinsic("umax", "i64", first, last, lanes=b.width)
        self._need_below(first, limit)

    def _strays(self, starts: Iterable[str]) -> str:
        """The mask of lanes for which a walk begins in another range than its site remembers."""
        b, found = self.b, "0"
        for walk, start in zip(self._rounds.walks, starts, strict=True):
            limit = b.splat("i64", self._bounds(walk).limit)
            outside = b.value(f"icmp uge {self._whole} {self._element(walk, start)}, {limit}")
            found = b.value(f"or {b.lanes} {found}, {b.mask_bits(outside)}")
        return found

    # ------------------------------------------------------------------------------------ vectors of i64
    def _do(self, operation: str, a: str, number: str) -> str:
        """A vector and a scalar, or a number."""
        return self.b.value(f"{operation} {self._whole} {a}, {self.b.splat('i64', number)}")

    def _both(self, operation: str, a: str, b: str) -> str:
        return self.b.value(f"{operation} {self._whole} {a}, {b}")

    def _need(self, predicate: str, a: str, b: str) -> None:
        """Lanes can only go if a comparison holds."""
        self._and(self.b.value(f"icmp {predicate} {self._whole} {a}, {b}"))

    def _and(self, condition: str) -> None:
        self._able = self.b.value(f"and {self.b.vector('i1')} {self._able}, {condition}")

    def _need_below(self, a: str, limit: int | str) -> None:
        self._need("ult", a, self.b.splat("i64", str(limit)))

    # ------------------------------------------------------------------------------------ sums
    def _sum(self, wanted: Linear) -> Value:
        """A sum as the loop begins."""
        found = self._sums.get(wanted)
        if found is None:
            found = self._sums[wanted] = self._make(wanted)
        return found

    def _make(self, wanted: Linear) -> Value:
        lanes = self._lanes
        whole: Value | None = None
        for atom, count in wanted.parts:
            part = self._atom(atom)
            if count != 1:
                part = lanes.mul(part, lanes.constant(wanted.type, count))
            whole = part if whole is None else lanes.add(whole, part)
        number = lanes.constant(wanted.type, wanted.number)
        if whole is None:
            return number
        return lanes.add(whole, number) if wanted.number else whole

    def _loaded(self, name: str) -> Value:
        """What a load finds whose place stays, in lanes for which that is within its range."""
        step, type_ = self._rounds.staying[name]
        walk = next(walk for walk in self._rounds.walks if step in walk.steps)
        first = self._lanes.as_vector(self._sum(walk.first)).ir
        self._need_inside(walk, first, "")
        access, acting = self._lanes.access, self.b.mask_bits(self._able)
        (found,) = access.gather(
            self._do("add", first, str(walk.steps[step])), self._bounds(walk).delta, type_, 1, acting
        )
        return Value(type_, found)

    def _atom(self, atom: Atom) -> Value:
        if atom.register in self._rounds.staying:
            return self._loaded(atom.register)
        if atom.inner is not None:
            return self._lanes.convert(atom.operation, self._sum(atom.inner), "i64")
        value = self._registers.read(atom.register)
        return self._lanes.constant(value.type, value.constant) if value.constant is not None else value

    def _wide(self, wanted: Linear, signedness: str) -> str:
        """A sum as a vector of i64 that is not close to wrapping."""
        value = self._sum(wanted)
        if value.type == "i32":
            extended = self._lanes.convert("zext" if signedness == "u" else "sext", value, "i64")
            return self._lanes.as_vector(extended).ir
        text = self._lanes.as_vector(value).ir
        if wanted.parts:
            self._need_below(text if signedness == "u" else self._do("add", text, str(_FAR)), 2 * _FAR)
        return text

    def _stay(self, type_: str, signedness: str, end: str) -> None:
        """Need the end of a walk through numbers of a type to be such a number."""
        if type_ == "i32":
            self._need_below(end if signedness == "u" else self._do("add", end, str(1 << 31)), 1 << 32)

    # ------------------------------------------------------------------------------------ rounds
    def _count(self, going: Comparison) -> str:
        """How many rounds there are after the first."""
        signedness, relation = going.predicate[0], going.predicate[1:]
        moving, limit = (self._wide(one, signedness) for one in going.operands)
        pace = going.paces[0]
        left = self._both("sub", *((limit, moving) if pace > 0 else (moving, limit)))
        step = abs(pace)
        if relation == "ne":  # what is negative is far more than any loop has
            if step > 1:
                self._need("eq", self._do("and", left, str(step - 1)), "zeroinitializer")
        else:
            # The number that ends the loop may lie a step beyond the limit.
            left = self._do("add", left, str(step - 1 + (relation in ("le", "ge"))))
            left = self.b.intrinsic("smax", "i64", left, "zeroinitializer", lanes=self.b.width)
            self._end_in_time(going, limit, step)
        after = self._do("lshr", left, str(step.bit_length() - 1)) if step > 1 else left
        self._need_below(after, _MOST_ROUNDS)
        return after

    def _end_in_time(self, going: Comparison, limit: str, step: int) -> None:
        """Need what moves to get past its limit before it wraps."""
        if going.operands[0].type == "i32":
            least, greatest = (0, (1 << 32) - 1) if going.predicate[0] == "u" else (-(1 << 31), (1 << 31) - 1)
            up = going.paces[0] > 0
            end = self.b.splat("i64", str(greatest - step if up else least + step))
            self._need("sle" if up else "sge", limit, end)

    def _moved(self, start: str, pace: int, rounds: str) -> str:
        """Where something is after a number of rounds."""
        return self._both("add", start, self._do("mul", rounds, str(pace))) if pace else start

    def _expect(self, test: Comparison, rounds: str) -> None:
        """Need a test to go one way in some rounds: as its sides move evenly, where they are closest."""
        signedness, relation = test.predicate[0], test.predicate[1:]
        relation = relation if test.holds else INVERSE[relation]
        starts = [self._wide(one, signedness) for one in test.operands]
        ends = [self._moved(start, pace, rounds) for start, pace in zip(starts, test.paces, strict=True)]
        nearing = test.paces[0] - test.paces[1]
        pair = ends if (nearing > 0) == (relation in ("lt", "le")) else starts
        held = self.b.value(f"icmp s{relation} {self._whole} {pair[0]}, {pair[1]}")
        if not test.last:  # a loop of one round has none before its last
            only = self.b.value(f"icmp eq {self._whole} {self.after}, zeroinitializer")
            held = self.b.value(f"or {self.b.vector('i1')} {only}, {held}")
        self._and(held)
        for one, end, pace in zip(test.operands, ends, test.paces, strict=True):
            if pace:
                self._stay(one.type, signedness, end)

    def _reach(self, extent: Extent) -> None:
        """Need a sum not to wrap before it is extended."""
        signedness = "u" if extent.operation == "zext" else "s"
        start = self._wide(extent.value, signedness)
        end = self._moved(start, extent.pace, self.after)
        low, high = (start, end) if extent.pace >= 0 else (end, start)
        if extent.low or extent.pace < 0:
            low = self._do("add", low, str(extent.low))
            self._stay("i32", signedness, low)
        if extent.high or extent.pace > 0:
            high = self._do("add", high, str(extent.high))
            self._stay("i32", signedness, high)

    def _together(self, name: str, other: str, away: int) -> None:
        one, two = (self._sum(Linear(self._type(x), ((Atom(x), 1),), 0)) for x in (name, other))
        moved = self._lanes.add(two, self._lanes.constant(two.type, away))
        apart = self._lanes.as_vector(self._lanes.sub(one, moved)).ir
        self._and(self.b.value(f"icmp eq {self.b.vector(one.type)} {apart}, zeroinitializer"))

    def _type(self, name: str) -> str:
        return self._registers.types[name]


@dataclass(frozen=True, slots=True)
class Plan:
    """Which lanes go through a loop, how many `rounds` each has, and where its walks start in host memory.

    `able` is a mask. `addresses` are those at which walks start, and `strays` emits the mask of the lanes for
    which one does in another range than its site remembers.
    """

    able: str
    rounds: str
    starts: tuple[str, ...]
    addresses: tuple[str, ...]
    strays: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Entered:
    """How many rounds a lane has, and where its walks start in host memory."""

    last: str
    starts: tuple[str, ...]


class LaneRounds:
    """The code of one loop's rounds, lane by lane; `name` is what the names of its labels begin with.

    `slots` takes stack slots that it needs. `%{name}.rest` has the lanes that are to go through the loop. If
    they are `ordered`, those of fewest rounds go first. A round may have a number of parts (repeats.py).
    """

    def __init__(self, b: Builder, name: str, rounds: Rounds, slots: list[str], *, ordered: bool, times: int):
        self.b = b
        self._name = name
        self.rounds = rounds
        self.ordered = ordered
        self._times = times
        # Walks at known distances from each other are known to be: where the first of them begins is kept.
        places = [(walk.array, walk.first.moved) for walk in rounds.walks]
        self._leads = [places.index(place) for place in places]
        self._buffers = {-1: f"%{name}.last", **{k: f"%{name}.start{k}" for k in self._leads}}
        walks = range(len(rounds.walks)) if misses_pages() else ()
        self._soon = [f"%{name}.soon{k}" for k in walks]  # where later walks begin, to be asked for
        whole = b.vector("i64")
        buffers = (*self._buffers.values(), *self._soon)
        slots += [f"  {buffer} = alloca {whole}, align 64" for buffer in buffers]
        slots += [f"  %{name}.round = alloca i64"]
        if ordered:
            slots += [f"  %{name}.{slot} = alloca i64" for slot in ("turn", "turns")]
            slots += [f"  %{name}.order = alloca [{2 * b.width} x i8]"]
        slots += [f"  %{name}.{masks} = alloca {b.lanes}" for masks in _MASKS]

    def begin(self, mask: str) -> None:
        """None of a mask's lanes has gone through the loop yet, nor is left to the loop for all lanes."""
        for masks in _MASKS:
            self.b.store(self.b.lanes, mask if masks == "able" else "0", f"%{self._name}.{masks}")

    def prepare(self, plan: Plan, mask: str, several: str) -> None:
        """Let the lanes go that can, and leave those of a mask that cannot to the loop for all lanes.

        `several` is an i1: some may go at once.
        """
        b = self.b
        others = self._look(plan, mask)
        b.store(b.lanes, others, f"%{self._name}.others")
        b.jump(self._on)
        self._go(plan, several)

    def prepare_all(self, plan: Plan, mask: str, several: str, meeting: Meeting) -> None:
        """Let the lanes of a mask go if all of them can, and nothing that one stores meets another's."""
        b, beside = self.b, f"{self._name}_beside"
        self._look(plan, mask)
        b.jump(beside)
        b.place(self._on)
        self._on = b.label("go")
        b.branch(meeting.emit(), beside, self._on)
        self._go(plan, several)

    def _look(self, plan: Plan, mask: str) -> str:
        """Go to `_on` if all lanes of a mask can go; else those that cannot have no range to look for."""
        b, name = self.b, self._name
        self._plan = plan
        for k, buffer in self._buffers.items():
            b.store(b.vector("i64"), plan.starts[k] if k >= 0 else plan.rounds, buffer, ", align 64")
        for buffer, start in zip(self._soon, plan.starts, strict=False):
            self._look_out(buffer, start)
        here = b.value(f"and {b.lanes} {plan.able}, {mask}")
        others = b.value(f"xor {b.lanes} {mask}, {here}")
        some, near, self._on = b.label("some"), b.label("near"), b.label("go")
        b.branch(b.someone(others), some, self._on)
        b.place(some)
        b.branch(b.someone(b.value(f"and {b.lanes} {plan.strays()}, {mask}")), f"{name}_stray", near)
        b.place(near)
        return others

    def _go(self, plan: Plan, several: str) -> None:
        """Let the lanes begin that can."""
        b, name = self.b, self._name
        b.place(self._on)
        for masks in ("rest", "able"):
            b.store(b.lanes, plan.able, f"%{name}.{masks}")
        some = b.label("some")
        b.branch(b.someone(plan.able), some, f"{name}_leave")
        b.place(some)
        if self.ordered:
            rounds, order = self._buffers[-1], f"%{name}.order"
            b.call("void", "wg_order_lanes", [("ptr", rounds), (b.lanes, plan.able), ("ptr", order)])
            b.store("i64", "0", b.offset(order, b.width))  # behind the last one no later lane is asked for
            b.store("i64", "0", f"%{name}.turn")
            turns = b.call(b.lanes, f"llvm.ctpop.{b.lanes}", [(b.lanes, plan.able)])
            turns = b.value(f"select i1 {several}, i64 {b.value(widened(turns, b.width))}, i64 0")
            b.store("i64", turns, f"%{name}.turns")  # of lanes that go at once

    def _look_out(self, buffer: str, start: str) -> None:
        """Note for each lane of a walk where it begins, or one of the next warp, to be asked for early."""
        b, whole = self.b, self.b.vector("i64")
        ends = [b.value(f"extractelement {whole} {start}, i32 {k}") for k in (0, b.width - 1)]
        reach = b.value(f"sub i64 {ends[1]}, {ends[0]}")
        near = b.value(f"icmp ult i64 {reach}, {_NEAR}")
        following = b.value(f"add {whole} {start}, {b.splat('i64', b.value(f'add i64 {reach}, {_MORE}'))}")
        chosen = b.value(f"select i1 {near}, {whole} {following}, {whole} {start}")
        b.store(whole, chosen, buffer, ", align 64")

    def next_lane(self) -> str:
        """The lane whose turn it is, an i64."""
        b, turn = self.b, f"%{self._name}.turn"
        if not self.ordered:
            lane = b.first_lane(b.load(b.lanes, f"%{self._name}.rest"))
            self.later = b.value(f"and i64 {b.value(f'add i64 {lane}, {LATER}')}, {b.width - 1}")
            return lane
        now = b.load("i64", turn)
        b.store("i64", b.value(f"add i64 {now}, 1"), turn)
        self.later = self.in_order(now, LATER)
        return self.in_order(now)

    def in_order(self, turn: str, away: int = 0) -> str:
        """The lane that has a turn, or one so many turns later, an i64."""
        b = self.b
        place = b.offset(b.offset(f"%{self._name}.order", turn), away)
        return b.value(f"zext i8 {b.load('i8', place)} to i64")

    def enter(self, lane: str) -> Entered:
        """What a lane needs that begins."""
        b = self.b
        found = {
            k: b.load("i64", b.value(f"getelementptr i64, ptr {buffer}, i64 {lane}"))
            for k, buffer in self._buffers.items()
        }
        last, walks = found.pop(-1), self.rounds.walks
        if self._times > 1:
            last = b.value(f"mul i64 {last}, {self._times}")
        starts = {k: b.value(f"inttoptr i64 {start} to ptr") for k, start in found.items()}
        places = [
            b.offset(starts[lead], walk.first.number - walks[lead].first.number)
            for walk, lead in zip(walks, self._leads, strict=True)
        ]
        return Entered(last, tuple(places))

    def look_ahead(self, later: str) -> None:
        """As a lane has its turn, ask for what a later one will load."""
        b = self.b
        for buffer in self._soon:
            place = b.load("ptr", b.value(f"getelementptr i64, ptr {buffer}, i64 {later}"))
            b.call("void", "llvm.prefetch.p0", [("ptr", place), ("i32", "0"), ("i32", "3"), ("i32", "1")])

    def set_round(self, number: str) -> None:
        """The next round is the one of a number."""
        self.b.store("i64", number, f"%{self._name}.round")

    def round(self) -> str:
        """The number of this round."""
        return self.b.load("i64", f"%{self._name}.round")

    def places(self, entered: Entered, number: str) -> dict[int, str]:
        """Where a lane's walks load in the round of a number, in host memory, by step."""
        b = self.b
        found: dict[int, str] = {}
        for walk, start in zip(self.rounds.walks, entered.starts, strict=True):
            pace = walk.pace // self._times
            place = b.offset(start, b.value(f"mul i64 {number}, {pace}")) if pace else start
            found |= {step: b.offset(place, distance) for step, distance in walk.steps.items()}
        return found

    def over(self, number: str, last: str) -> str:
        """At the end of a round: an i1 that holds if there are no more."""
        b = self.b
        following = b.value(f"add i64 {number}, 1")
        self.set_round(following)
        return b.value(f"icmp eq i64 {following}, {last}")

    def first_strays(self) -> list[tuple[Walk, str]]:
        """Where the walks of the first lane begin that is in another range than a site remembers."""
        b, plan = self.b, self._plan
        lane = b.value(f"and i64 {b.first_lane(plan.strays())}, {b.width - 1}")
        starts = [
            b.value(f"extractelement {b.vector('i64')} {address}, i64 {lane}") for address in plan.addresses
        ]
        return list(zip(self.rounds.walks, starts, strict=True))

    def done(self) -> str:
        """The lanes that have gone through the loop."""
        return self._combined("xor", "able", "rest")

    def not_done(self) -> str:
        """The lanes that have not gone through the loop."""
        return self._combined("or", "rest", "others")

    def _combined(self, operation: str, *masks: str) -> str:
        b = self.b
        one, other = (b.load(b.lanes, f"%{self._name}.{each}") for each in masks)
        return b.value(f"{operation} {b.lanes} {one}, {other}")

    def leave_others(self, mask: str, abreast: str) -> None:
        """Go on with the lanes that are left to the loop for all lanes, if there are any."""
        b = self.b
        others = b.load(b.lanes, f"%{self._name}.others")
        some, none = b.label("others"), b.label("all")
        b.branch(b.someone(others), some, none, unlikely=True)
        b.place(some)
        b.store(b.lanes, others, mask)
        b.jump(abreast)
        b.place(none)
