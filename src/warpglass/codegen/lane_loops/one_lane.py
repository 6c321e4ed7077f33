"""The values, registers and accesses of one lane that runs a loop alone: all are scalars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_fields

from ...isa.lanes import Outline
from ...isa.types import BITS
from ...program import Step
from ..lanes.fast import FastLanes
from ..machine.target import float_register
from ..operands import Symbols
from ..registers import Registers
from ..steps import Steps
from ..values.results import Result
from ..values.value import Value, literal, no_offsets, one_value, replace, signed
from .find import Group

# The greatest power of two that an index is multiplied with.
_MOST_SHIFT = 4

_LEARN = """
define internal i1 @wg_learn_range(
  ptr %context, ptr %site, i64 %address, i64 %size, i64 %use, i1 %generic
) noinline cold #0 {
  %range = call ptr @wg_find_range(ptr %context, i64 %address, i64 %size, i64 %use, i1 %generic)
  %missing = icmp eq ptr %range, null
  br i1 %missing, label %none, label %remember
remember:
  %low = load i64, ptr %range
  store i64 %low, ptr %site
  %bytes.p = getelementptr i64, ptr %range, i64 1
  %bytes = load i64, ptr %bytes.p
  %elements = udiv i64 %bytes, %size
  %limit.p = getelementptr i64, ptr %site, i64 1
  store i64 %elements, ptr %limit.p
  %delta.p = getelementptr i64, ptr %range, i64 2
  %delta = load i64, ptr %delta.p
  %known.p = getelementptr i64, ptr %site, i64 2
  store i64 %delta, ptr %known.p
  ret i1 true
none:
  ret i1 false
}
"""


def learn_helper() -> str:
    """`@wg_learn_range`: lets a site remember the range of an address; false if no range has it."""
    return _LEARN


@dataclass(frozen=True, slots=True)
class Checked:
    """A group's range while a lane runs.

    It begins at `low`, `from_root` bytes before the group's root, and lies in host memory at `host`. The
    group may begin at `limit` elements, or bytes if the root lies whole elements from there (`aligned`). So
    many bytes as `room` says may be added to the roots of all groups of the same index, `beside`, before one
    of them is outside; that is empty if it is not known.
    """

    low: str
    host: str
    limit: str
    root: str
    from_root: str
    aligned: bool
    beside: Sequence[Group] = ()
    room: str = ""


@dataclass(frozen=True, slots=True)
class Index:
    """A number, an i64, times a power of two, and a constant; in an address it is `added` to something."""

    number: str
    shift: int
    distance: int = 0
    added: bool = False

    def serves(self, group: Group, distance: int) -> bool:
        """Whether it is added to a group's root for an address so far behind the group's lowest.

        Then it has the alignment of the group's elements.
        """
        return self.added and self.distance == group.low + distance and group.size <= 1 << self.shift


class OneLane(FastLanes):
    """The vocabulary for one lane: every value is a scalar."""

    def __init__(self, like: FastLanes):
        super().__init__(like.access, like.local, like.shape, like.promises)
        self.groups: dict[int, Group] = {}  # by step
        self.ranges: dict[int, Checked] = {}  # by a group's leader
        self.missed: Callable[[Sequence[tuple[Group, str]]], str] = lambda accesses: ""
        self.walked: dict[int, str] = {}  # where accesses lie that need no check, by step
        self.said: Mapping[int, str] = {}  # what LLVM is told of accesses, by step
        self._places: dict[int, str] = {}  # where the lowest element of a group lies, by leader
        self._indices: dict[str, Index] = {}  # what numbers of 64 bits are made of

    def _made(self, found: Result, name: str, type_: str = "") -> Value:
        made = super()._made(found, name, type_)
        if made.type == "i64" and made.constant is None and len(found[2]) == 2:  # else it is an older value
            index = self._index_of(name, *found[2])
            if index is not None:
                self._indices[made.ir] = index
        return made

    def _index_of(self, name: str, one: Value, other: Value) -> Index | None:
        """What an operation makes of a number."""
        if name in ("add", "mul") and one.constant is not None:
            one, other = other, one
        number = other.constant
        if name in ("mul", "shl") and number is not None:
            factor = number if name == "mul" else 1 << min(number, 63)
            shift = factor.bit_length() - 1
            return Index(one.ir, shift) if factor == 1 << shift and shift <= _MOST_SHIFT else None
        known = self._indices.get(one.ir)
        if name != "add":
            return None
        if number is not None:
            return known and replace_fields(known, distance=known.distance + signed(number, 64))
        scaled = [index for index in (known, self._indices.get(other.ir)) if index is not None]
        return replace_fields(scaled[0], added=True) if len(scaled) == 1 and not scaled[0].added else None

    def outline(self, outline: Outline, operands: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(outline.make(self, *self.all_exact(tuple(operands))))

    def held(self, a: Value) -> Value:
        """The same float, computed in front of all that follows."""
        where = f'"={float_register()},0"'
        return replace(a, ir=self.builder.value(f'call {a.type} asm sideeffect "", {where}({a.type} {a.ir})'))

    def load(self, space: str, address: Value, type_: str, count: int, volatile: bool) -> tuple[Value, ...]:
        step = self.access.step
        place = self.walked.get(step) or self._place(step, address.ir)
        size = BITS[type_] // 8
        how = f", align 1{self.said.get(step, '')}"
        names = [self.builder.load(type_, self.builder.offset(place, k * size), how) for k in range(count)]
        return tuple(Value(type_, name, self.same) for name in names)

    def store(self, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        values = self.all_exact(values)
        step, size = self.access.step, BITS[values[0].type] // 8
        place, said = self.walked[step], self.said[step]
        for k, value in enumerate(values):
            self.builder.store(value.type, value.ir, self.builder.offset(place, k * size), f", align 1{said}")

    def _place(self, step: int, address: str) -> str:
        """Where a load lies in host memory."""
        group = self.groups[step]
        distance = group.steps[step]
        if step == group.leader:
            self._places[step] = self._check(group, address, distance)
        return self.builder.offset(self._places[group.leader], distance)

    def _check(self, group: Group, address: str, distance: int) -> str:
        """Check all of a group; returns where its lowest element lies in host memory."""
        b, known = self.builder, self.ranges[group.leader]
        index = self._indices.get(address)
        if index is not None and known.beside and index.serves(group, distance):
            return self._check_index(group, index)
        first = b.value(f"sub i64 {address}, {distance}") if distance else address
        from_root = b.value(f"sub i64 {first}, {known.root}")
        inside = b.value(f"add i64 {from_root}, {known.from_root}")
        on = b.label("inside")
        bad = self._outside(group, known, from_root, inside)
        b.branch(bad, self.missed([(group, first)]), on, unlikely=True)
        b.place(on)
        return b.value(f"inttoptr i64 {b.value(f'add i64 {inside}, {known.host}')} to ptr")

    def _check_index(self, group: Group, index: Index) -> str:
        """The same by the index, which is one comparison for all groups that have it: LLVM sees that."""
        b, known, on = self.builder, self.ranges[group.leader], self.builder.label("inside")
        moved = b.value(f"shl i64 {index.number}, {index.shift}")
        end = b.value(f"add i64 {known.room}, {(1 << index.shift) - 1}")
        bad = b.value(f"icmp uge i64 {index.number}, {b.value(f'lshr i64 {end}, {index.shift}')}")
        accesses: list[tuple[Group, str]] = []
        for one in known.beside:
            start = b.value(f"add i64 {self.ranges[one.leader].root}, {one.low}")
            accesses.append((one, b.value(f"add i64 {start}, {moved}")))
        b.branch(bad, self.missed(accesses), on, unlikely=True)
        b.place(on)
        root = b.value(f"inttoptr i64 {b.value(f'add i64 {known.host}, {known.from_root}')} to ptr")
        return b.offset(b.offset(root, moved), group.low)

    def _outside(self, group: Group, known: Checked, from_root: str, inside: str) -> str:
        b = self.builder
        if known.aligned:  # that the low bits are zero LLVM mostly sees
            rest = b.value(f"and i64 {from_root}, {group.size - 1}")
            uneven = b.value(f"icmp ne i64 {rest}, 0")
            return b.value(f"or i1 {uneven}, {b.value(f'icmp uge i64 {inside}, {known.limit}')}")
        return b.value(f"icmp uge i64 {b.elements(inside, group.size)}, {known.limit}")


class LaneRegisters(Registers):
    """The registers of one lane, all of them scalars, apart from those of the warp.

    The names of their homes begin with `prefix`.
    """

    def __init__(self, warp: Registers, prefix: str):
        self.prefix = prefix
        kinds = {name: _scalar(warp.kind(name), warp.builder.width) for name in warp.types}
        super().__init__(warp.builder, {}, kinds)
        self.types = warp.types

    def put(self, name: str, text: str) -> None:
        """Let a register hold an LLVM value."""
        if self.stored(name):
            self._store((name, ""), text, self.home((name, "")))

    def take(self, name: str) -> str:
        """What a register holds."""
        kind, type_ = self.kind(name), self.types[name]
        if kind.constant is not None:
            return literal(type_, kind.constant, BITS[type_])
        return self.read(name).ir if not self.stored(name) else self._load((name, ""), self.home((name, "")))


class LaneSteps(Steps):
    """Runs steps for one lane. What the steps of `chain` have written LLVM computes where they stand.

    It would move them behind the checks of all loads that follow, whose addresses it had to keep until then:
    they are more than the processor has registers.
    """

    def __init__(self, lanes: OneLane, registers: LaneRegisters, symbols: Symbols):
        super().__init__(lanes, registers, symbols)
        self._one = lanes
        self.chain: frozenset[int] = frozenset()

    def run(self, step: Step, mask: str, blend: frozenset[str]) -> None:
        super().run(step, mask, blend)
        if step.number not in self.chain:
            return
        for name in step.writes:
            value = self.registers.read(name)
            if value.type in ("float", "double") and value.constant is None:
                self.registers.write(name, self._one.held(value))


@dataclass(frozen=True, slots=True)
class Runner:
    """What runs the steps of one lane."""

    lane: OneLane
    registers: LaneRegisters
    steps: LaneSteps

    @staticmethod
    def alone(like: FastLanes, warp: Registers, symbols: Symbols) -> Runner:
        """That of a lane that goes alone."""
        lane, registers = OneLane(like), LaneRegisters(warp, "%alone")
        return Runner(lane, registers, LaneSteps(lane, registers, symbols))


def _scalar(kind: Value, width: int) -> Value:
    """The kind of one lane's value."""
    if one_value(kind.offsets):
        return replace(kind, ok=None)
    return Value(kind.type, "", no_offsets(width), None, kind.low, kind.high, nan=kind.nan)
