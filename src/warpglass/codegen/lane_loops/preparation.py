"""Which lanes can go through a loop without a look at each round, and what they need for it (rounds.py).

In front of the loop, for all lanes at once: how many rounds each has, where its even loads begin, and
whether all that was taken for granted holds and all those loads are within their ranges. Lanes of which that
is not so are left to the loop for all lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from ..builder import Builder
from ..lanes.fast import FastLanes
from ..memory.sites import Bounds
from ..registers import Registers
from ..values.value import Value
from .rounds import INVERSE, Atom, Comparison, Extent, Linear, Rounds, Walk

# Rounds up to which a lane goes without a look at the stop flag.
_MOST_ROUNDS = 1 << 16
# What is compared as 64 bits must be below this, so that nothing wraps.
_FAR = 1 << 62


class Preparation:
    """Emits what comes in front of one loop, for the lanes of a mask."""

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
        self.mask = mask
        self._able = self.b.mask_vector(mask)  # a vector of i1: lanes for which all holds that was looked at

    @cached_property
    def after(self) -> str:
        """How many rounds (i64) lanes have after the first; emitted where it is first asked for."""
        return self._count(self._rounds.going)

    def counted(self) -> str:
        """An i1 that holds if the rounds of all lanes are known, which may have taken loads."""
        if not self._rounds.staying:
            return "true"
        b = self.b
        return b.value(f"icmp eq {b.lanes} {b.mask_bits(self._able)}, {self.mask}")

    def side_by_side(self) -> str:
        """An i1 that holds if the lowest and the highest lane begin as lanes do that are all side by side.

        Or as those that share one place. Of the lowest two both may hold where a few lanes share a row.
        """
        b, walk = self.b, next((walk for walk in self._rounds.walks if walk.pace), None)
        if walk is None:
            return "false"
        start = self._lanes.as_vector(self._sum(walk.first)).ir
        lanes = [b.first_lane(self.mask), b.last_lane(self.mask)]
        low, high = (b.value(f"extractelement {self._whole} {start}, i64 {lane}") for lane in lanes)
        apart = b.value(f"sub i64 {high}, {low}")
        several = b.value(f"sub i64 {lanes[1]}, {lanes[0]}")
        near = b.value(f"icmp eq i64 {apart}, {b.value(f'mul i64 {several}, {walk.size}')}")
        near = b.value(f"or i1 {near}, {b.value(f'icmp eq i64 {apart}, 0')}")
        return b.value(f"and i1 {near}, {b.value(f'icmp ne i64 {several}, 0')}")

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
