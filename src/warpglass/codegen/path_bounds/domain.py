"""The abstract domain: what one thread's integers are known to be at a place of the program.

Belongs here: values with bounds, low bits and their distance from others, and the lanes implementation that
computes with them by running the meanings of instructions. Forms do not matter: it is one thread's path that
is followed, whichever its lane. A value is its `root` (a number that stands for one value of one moment) plus
a distance; constants have root 0. So what is learnt of one register, as by a test, is learnt of all that are
at a known distance from it, and loop variables that move together are seen to do so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ...isa.types import BITS, is_float
from ..values.bounds import Bounds, decide, join
from ..values.bounds import bounds_of as known_bounds
from ..values.facts import FactLanes
from ..values.known_bits import LowBits
from ..values.operations import (
    FOLD_CONVERSION,
    OPERATIONS,
    UNKNOWN,
    converted_bounds,
    fold,
    identity,
)
from ..values.value import UNIFORM, Value, literal
from ..values.value import signed as read_signed

INTEGERS = ("i1", "i32", "i64")
ZERO = 0  # the root of constants
Key = tuple[Any, ...]  # what a root stands for


@dataclass(frozen=True, slots=True)
class Test:
    """What a predicate says: a comparison of two values, or one of `and`, `or`, `not` of other tests."""

    operation: str
    operands: tuple[Test | Value | str | None, ...]


@dataclass(slots=True, unsafe_hash=True)
class AbstractInt(Value):
    """An integer: besides what Value says, its `count` low bits are those of `residue`.

    `source` is the root and the distance of what has turned out to be a constant, as a test may leave one
    number: how a loop has changed it is still known.
    """

    count: int = 0
    residue: int = 0
    root: int = -1
    distance: int = 0  # from the root, modulo the width, signed
    source: tuple[int, int] | None = None
    test: Test | None = None  # of a predicate


def signed(number: int, type_: str) -> int:
    """A number modulo the width of a type, read as signed."""
    return read_signed(number, BITS[type_])


def limits(type_: str) -> tuple[int, int]:
    """The bounds of all values of a type."""
    half = 1 << (BITS[type_] - 1)
    return (0, 1) if type_ == "i1" else (-half, half - 1)


def bounds_of(a: Value) -> tuple[int, int]:
    """A value's bounds, those of its type if nothing is known."""
    return known_bounds(a) or limits(a.type)


def make_abstract(
    type_: str, bounds: Bounds, low_bits: LowBits, root: int, distance: int
) -> AbstractInt | None:
    """A value, with what its bounds and its low bits say of each other; None if no value is both."""
    count, residue = low_bits
    residue &= (1 << count) - 1
    low, high = bounds or limits(type_)
    low, high = low + (residue - low) % (1 << count), high - (high - residue) % (1 << count)
    if low > high:
        return None
    distance = signed(distance, type_)
    if low == high:
        found = constant(type_, low)
        return replace(found, source=(root, distance)) if root > ZERO else found
    none = (low, high) == limits(type_)
    return AbstractInt(
        type_,
        "",
        low=None if none else low,
        high=None if none else high,
        count=count,
        residue=residue,
        root=root,
        distance=distance,
    )


@lru_cache(maxsize=4096)
def constant(type_: str, number: int) -> AbstractInt:
    """A number that is known."""
    width = BITS[type_]
    pattern = number & ((1 << width) - 1)
    number = pattern if type_ == "i1" else signed(number, type_)
    text = literal(type_, pattern, width)
    return AbstractInt(
        type_,
        text,
        UNIFORM,
        pattern,
        number,
        number,
        count=width,
        residue=pattern,
        distance=number,
        root=ZERO,
    )


def join_predicates(values: Sequence[AbstractInt]) -> AbstractInt:
    """A predicate where paths meet: what it tests stays, whichever way the test has sent each of them."""
    one = values[0]
    test = one.test if all(value.test == one.test for value in values) else None
    same = one.constant is not None and all(value.constant == one.constant for value in values)
    return replace(constant("i1", one.constant or 0), test=test) if same else AbstractInt("i1", "", test=test)


def low_bits_of(a: Value) -> LowBits:
    """How many low bits are known, and what they are."""
    return (a.count, a.residue) if isinstance(a, AbstractInt) else (0, 0)


def common_low_bits(*values: Value) -> LowBits:
    """The low bits that several values share."""
    count, residue = low_bits_of(values[0])
    for value in values[1:]:
        other, bits = low_bits_of(value)
        differ = residue ^ bits
        count = min(count, other, (differ & -differ).bit_length() - 1 if differ else count)
    return count, residue


class AbstractLanes(FactLanes):
    """Computes with what is known of integers; anything else is left as it is."""

    roots: dict[tuple[object, ...], int]
    keys: list[Key]  # what each root stands for
    thresholds: set[int]

    def start(self) -> None:
        """Forget all roots and what values were compared with."""
        self.roots = {("zero",): ZERO}
        self.keys = [("zero",)]
        self.thresholds = {-1, 0, 1}

    def root(self, *what: object) -> int:
        """The number that stands for what a key describes."""
        found = self.roots.setdefault(what, len(self.keys))
        if found == len(self.keys):
            self.keys.append(what)
        return found

    def wrap(self, a: Value, *what: object) -> AbstractInt:
        """A value without a root: it gets the one of a key."""
        if isinstance(a, AbstractInt) and (a.root >= 0 or a.type == "i1"):
            return a
        if a.constant is not None and a.offsets is not None:
            return constant(a.type, a.constant)
        made = make_abstract(a.type, known_bounds(a), low_bits_of(a), self.root(*what), 0)
        assert made is not None, "bounds are never empty"
        return made

    def renewed(self, a: AbstractInt, *what: object) -> AbstractInt:
        """What is known of a value, apart from others: it gets the root of a key."""
        if a.type == "i1":
            return AbstractInt("i1", "") if a.constant is None else constant("i1", a.constant)
        if a.constant is not None:
            return a
        return make_abstract(a.type, known_bounds(a), low_bits_of(a), self.root(*what), 0) or a

    def constant(self, type_: str, pattern: int) -> Value:
        return constant(type_, pattern) if type_ in INTEGERS else super().constant(type_, pattern)

    # ------------------------------------------------------------------------------------ arithmetic
    def apply(self, operation: str, *operands: Value) -> Value:
        type_ = operands[0].type
        if type_ not in INTEGERS:
            return super().apply(operation, *operands)
        row = OPERATIONS.get(operation, UNKNOWN)
        if len(operands) == 2:
            folded = fold(row, *operands)
            if folded is not None:
                return constant(type_, folded)
            same = identity(row, *operands)
            if same is not None:
                return same
        if type_ == "i1":
            return _combined(operation, *operands)
        low_bits: LowBits = (0, 0)
        if row.low_bits is not None:
            low_bits = row.low_bits(low_bits_of(operands[0]), low_bits_of(operands[1]), BITS[type_])
        root, distance = -1, 0
        numbers = [one for one in operands if isinstance(one, AbstractInt) and one.root >= 0]
        if len(numbers) == len(operands):
            root, distance = _PLACES.get(operation, _placed)(self, operation, *numbers)
        if root == ZERO:
            return constant(type_, distance)
        bounds = self._remainder(*operands) if operation == "sub" else None
        if bounds is None and row.bounds is not None:
            bounds = row.bounds(BITS[type_], known_bounds(operands[0]), known_bounds(operands[1]))
        return make_abstract(type_, bounds, low_bits, root, distance) or Value(type_, "")

    def _remainder(self, a: Value, b: Value) -> Bounds:
        """The bounds of a value less itself without its low bits, as compilers write remainders."""
        if not (isinstance(a, AbstractInt) and isinstance(b, AbstractInt)) or b.root < ZERO or b.distance:
            return None
        operation, *operands = self.keys[b.root]
        if operation != "and" or operands[1] != (a.root, a.distance):
            return None
        root, mask = operands[2]
        cleared = -mask
        return (0, cleared - 1) if root == ZERO and cleared > 0 and cleared & (cleared - 1) == 0 else None

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        if condition.constant is not None:
            return a if condition.constant else b
        if a.type not in INTEGERS or a.type == "i1":
            return super().select(condition, a, b)
        if a == b:
            return a
        bounds = join(known_bounds(a), known_bounds(b))
        return make_abstract(a.type, bounds, common_low_bits(a, b), -1, 0) or Value(a.type, "")

    def convert(self, operation: str, a: Value, type_: str) -> Value:
        if (
            type_ not in INTEGERS
            or type_ == "i1"
            or not isinstance(a, AbstractInt)
            or operation not in _EXTENSIONS
        ):
            return super().convert(operation, a, type_)
        if a.constant is not None:
            return constant(type_, FOLD_CONVERSION[operation](a.constant, BITS[a.type]))
        bounds = converted_bounds(operation, a, type_)
        count, residue = low_bits_of(a)
        root, distance = -1, 0
        if a.root >= 0 and _keeps_distance(operation, a):
            root, distance = self.root(operation, type_, a.root), a.distance
        elif a.root >= 0:
            root = self.root(operation, type_, a.root, a.distance)
        low_bits = min(count, BITS[type_]), residue
        return make_abstract(type_, bounds, low_bits, root, distance) or Value(type_, "")

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        if is_float(a.type):
            return super().compare(predicate, a, b)
        self._note(a, b)
        known = decide(predicate, a, b)
        if known is None:
            known = _decide(predicate, a, b)
        if known is not None:
            return constant("i1", int(known))
        return AbstractInt("i1", "", test=Test("compare", (predicate, a, b)))

    def _note(self, *values: Value) -> None:
        if len(self.thresholds) < _MOST_THRESHOLDS:
            for value in values:
                if value.constant is not None and value.low is not None:
                    self.thresholds.update((value.low - 1, value.low, value.low + 1))


_MOST_THRESHOLDS = 60
_EXTENSIONS = ("trunc", "sext", "zext")


def _keeps_distance(operation: str, a: AbstractInt) -> bool:
    """Whether a converted value is as far from its converted root: neither wraps."""
    least, greatest = (0, limits(a.type)[1]) if operation == "zext" else limits(a.type)
    low, high = bounds_of(a)
    return operation == "trunc" or (
        least <= min(low, low - a.distance) and max(high, high - a.distance) <= greatest
    )


def _decide(predicate: str, a: Value, b: Value) -> bool | None:
    """What roots and low bits say of a comparison."""
    if not (isinstance(a, AbstractInt) and isinstance(b, AbstractInt)):
        return None
    if a.root == b.root >= 0 and a.distance == b.distance:
        return predicate in ("eq", "sle", "sge", "ule", "uge")
    count = min(a.count, b.count)
    differ = (a.residue ^ b.residue) & ((1 << count) - 1) or (a.root == b.root >= 0)
    return predicate == "ne" if differ and predicate in ("eq", "ne") else None


def _combined(operation: str, *operands: Value) -> Value:
    """A predicate made of others."""
    tests = [one.test if isinstance(one, AbstractInt) else None for one in operands]
    flipped = [other for one, other in zip(operands, tests[::-1], strict=True) if one.constant == 1]
    if operation == "xor" and flipped:
        return AbstractInt("i1", "", test=Test("not", (flipped[0],)))
    if operation in ("and", "or"):
        return AbstractInt("i1", "", test=Test(operation, tuple(tests)))
    return AbstractInt("i1", "")


# ------------------------------------------------------------------------------------ roots and distances
def _placed(lanes: AbstractLanes, operation: str, *operands: AbstractInt) -> tuple[int, int]:
    return lanes.root(operation, operands[0].type, *((one.root, one.distance) for one in operands)), 0


def _place_sum(lanes: AbstractLanes, operation: str, a: AbstractInt, b: AbstractInt) -> tuple[int, int]:
    distance = a.distance + b.distance
    if ZERO in (a.root, b.root):
        return a.root + b.root, distance
    return lanes.root(operation, a.type, *sorted((a.root, b.root))), distance


def _place_difference(
    lanes: AbstractLanes, operation: str, a: AbstractInt, b: AbstractInt
) -> tuple[int, int]:
    distance = a.distance - b.distance
    if b.root == ZERO or a.root == b.root:
        return (a.root if b.root == ZERO else ZERO), distance
    if a.root == ZERO:
        return lanes.root("mul", a.type, b.root, -1), distance
    return lanes.root(operation, a.type, a.root, b.root), distance


def _place_product(lanes: AbstractLanes, operation: str, a: AbstractInt, b: AbstractInt) -> tuple[int, int]:
    if a.constant is not None:
        a, b = b, a
    if b.constant is None:
        return _placed(lanes, operation, a, b)
    return lanes.root(operation, a.type, a.root, b.distance), a.distance * b.distance


def _place_shifted(lanes: AbstractLanes, operation: str, a: AbstractInt, b: AbstractInt) -> tuple[int, int]:
    if b.constant is None or b.constant >= BITS[a.type]:
        return _placed(lanes, operation, a, b)
    factor = 1 << b.constant
    return lanes.root("mul", a.type, a.root, signed(factor, a.type)), a.distance * factor


def _place_exclusion(lanes: AbstractLanes, operation: str, a: AbstractInt, b: AbstractInt) -> tuple[int, int]:
    for one, mask in ((a, b), (b, a)):
        if (
            mask.root == ZERO and mask.distance == -1
        ):  # all bits of a number are one less than what negates it
            return lanes.root("mul", a.type, one.root, -1), -1 - one.distance
    return _placed(lanes, operation, a, b)


_PLACES: dict[str, Callable[..., tuple[int, int]]] = {
    "add": _place_sum,
    "sub": _place_difference,
    "mul": _place_product,
    "shl": _place_shifted,
    "xor": _place_exclusion,
}
