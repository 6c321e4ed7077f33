"""The vocabulary of isa/lanes.py for facts alone: what meanings make of facts, without code.

Memory and other threads yield vectors of which nothing is known, or uniform values for uniform addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ...isa import Lanes
from ...isa.lanes import Outline, Update
from ...isa.types import is_float
from ..context import WINDOWS
from ..shape import BlockShape, Promises
from .division import tested_divisor, total_division
from .operations import BLIND_CONVERSIONS, KEEPS_NAN, OPERATIONS, SEES_BITS, UNKNOWN
from .results import DIVISION, arithmetic, comparison, conversion, plain_division, selection
from .specials import Specials, lane_pattern
from .value import EXACT_NAN, LOOSE_NAN, ONE_NAN, SINGLE, UNIFORM, Value, constant, no_offsets, replace


def exact(a: Value) -> Value:
    """What is known of a value once its NaNs are the hardware's."""
    if a.nan != LOOSE_NAN:
        return a
    return Value(a.type, "", a.offsets, ok=a.ok, nan=ONE_NAN)


class FactLanes(Lanes[Value]):
    """Facts of values for one block shape and what the launches promise.

    `strays` are the steps whose generic accesses may reach local memory; `step` is the current one.
    """

    def __init__(self, shape: BlockShape, promises: Promises, strays: frozenset[int] = frozenset()):
        self.shape = shape
        self.promises = promises
        self.step = -1
        self._strays = strays
        self._specials = Specials(shape, promises)
        self._same = no_offsets(shape.width)

    # ------------------------------------------------------------------------------------ values
    def constant(self, type_: str, pattern: int) -> Value:
        return constant(type_, pattern, self.shape.width)

    def type_of(self, a: Value) -> str:
        return a.type

    def apply(self, operation: str, *operands: Value) -> Value:
        sees = OPERATIONS.get(operation, UNKNOWN).nan
        if operation == "llvm.copysign" and operands[0].constant == 0:
            return replace(self._arithmetic(operation, operands), nan=ONE_NAN)
        if sees == SEES_BITS:
            operands = tuple([exact(one) for one in operands])
        result = self._arithmetic(operation, operands)
        return replace(result, nan=operands[0].nan) if sees == KEEPS_NAN else result

    def _arithmetic(self, operation: str, operands: tuple[Value, ...]) -> Value:
        form, result, _ = arithmetic(operation, operands, self.shape)
        if form != DIVISION:
            return result
        a, b = operands
        made = total_division(self, operation, a, tested_divisor(b), self._plain_division)
        return made if made.constant is not None else replace(made, low=result.low, high=result.high)

    def _plain_division(self, a: Value, b: Value) -> Value:
        return plain_division(a, b, self.shape)[1]

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        if not is_float(a.type):
            a, b = exact(a), exact(b)
        return comparison(predicate, a, b, self.shape)[1]

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        if EXACT_NAN in (a.nan, b.nan):
            a, b = exact(a), exact(b)
        return selection(condition, a, b)[1]

    def convert(self, operation: str, a: Value, type_: str) -> Value:
        if operation == "bitcast" and a.type in SINGLE and type_ in SINGLE:
            return replace(conversion(operation, a, type_, self.shape)[1], nan=a.nan)
        return conversion(operation, a if operation in BLIND_CONVERSIONS else exact(a), type_, self.shape)[1]

    def unless(self, rare: Value, usual: Value, other: Callable[[], Value]) -> Value:
        if rare.constant is not None:
            return exact(other() if rare.constant else usual)
        return Value(usual.type, "", self._same if rare.uniform and usual.uniform else None)

    def one_nan(self, a: Value, pattern: int) -> Value:
        return replace(a, nan=LOOSE_NAN)

    def outline(self, outline: Outline, operands: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(Value(type_, "") for type_ in outline.results)

    # ------------------------------------------------------------------------------------ the machine
    def special(self, name: str) -> Value:
        return self._specials.facts(name)

    def window(self, space: str) -> Value:
        return self.constant("i64", WINDOWS.get(space, 0))

    def load(self, space: str, address: Value, type_: str, count: int, volatile: bool) -> tuple[Value, ...]:
        if space == "param":
            known = self.promises.parameters.get(address.constant) if address.constant is not None else None
            if known is not None and count == 1:
                return (self.constant(type_, known),)
            return (Value(type_, "", self._same),) * count
        local = space == "local" or (space == "generic" and self.step in self._strays)
        return (Value(type_, "", self._same if address.uniform and not local else None),) * count

    def store(self, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        pass

    def atomic(self, space: str, operation: str, address: Value, operands: tuple[Value, ...]) -> Value:
        return Value(operands[-1].type, "")

    def update(
        self, space: str, change: Update, address: Value, given: Sequence[tuple[Value, ...]]
    ) -> tuple[Value, ...]:
        return tuple(Value(operands[-1].type, "") for operands in given)

    @contextmanager
    def only(self, condition: Value) -> Iterator[None]:
        yield

    def system(self, name: str, result: str, operands: tuple[Value, ...]) -> Value:
        return Value(result, "")

    def arrive(self, barrier: Value, count: Value | None, predicate: Value | None, wait: bool) -> None:
        pass

    def barrier_votes(self, barrier: Value) -> tuple[Value, Value]:
        return Value("i32", "", self._same), Value("i32", "", self._same)

    # ------------------------------------------------------------------------------------ across lanes
    def known(self, a: Value) -> int | None:
        return a.constant

    def lane_constants(self, type_: str, patterns: tuple[int, ...]) -> Value:
        return Value(type_, "") if type_ == "i1" or is_float(type_) else lane_pattern(type_, patterns)

    def permute(self, a: Value, sources: tuple[int, ...]) -> Value:
        return exact(a) if a.uniform else Value(a.type, "")

    def shuffle(self, a: Value, source: Value) -> Value:
        return exact(a) if a.uniform else Value(a.type, "")

    def active(self) -> Value:
        return Value("i32", "", UNIFORM)

    def ballot(self, predicate: Value) -> Value:
        return Value("i32", "", UNIFORM)

    def mask_predicate(self, mask: Value) -> Value:
        return Value("i1", "")

    def reduce(self, operation: str, a: Value) -> Value:
        return Value(a.type, "", UNIFORM)

    def equal_lanes(self, a: Value) -> Value:
        return self.constant("i32", -1) if a.uniform else Value("i32", "")
