"""The vocabulary of isa/lanes.py for facts alone: what meanings make of facts, without code.

Memory and other threads yield vectors of which nothing is known, or uniform values for uniform addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from ...isa import Lanes
from ...isa.lanes import Fetch, Outline, Table, Update
from ...isa.types import is_float
from ..context import WINDOWS
from ..shape import BlockShape, Promises
from .division import tested_divisor, total_division
from .operations import BLIND_CONVERSIONS, KEEPS_NAN, OPERATIONS, PASSES_NAN, SEES_SIGN, UNKNOWN
from .results import DIVISION, Operands, Result, arithmetic, by_bits, comparison, conversion, selection
from .specials import Specials, lane_pattern
from .value import EXACT_NAN, LOOSE_NAN, ONE_NAN, SINGLE, UNIFORM, Value, constant, no_offsets, replace


class FactArithmetic(Lanes[Value]):
    """Arithmetic on facts, and on what NaNs operations see; `_made` is where a subclass emits code."""

    shape: BlockShape
    promises: Promises

    @property
    def flushes(self) -> bool:
        return self.promises.flushes

    def constant(self, type_: str, pattern: int) -> Value:
        return constant(type_, pattern, self.shape.width)

    def type_of(self, a: Value) -> str:
        return a.type

    def known(self, a: Value) -> int | None:
        return a.constant

    def window(self, space: str) -> Value:
        return self.constant("i64", WINDOWS.get(space, 0))

    def one_nan(self, a: Value, pattern: int) -> Value:
        return replace(a, nan=LOOSE_NAN)

    def exact(self, a: Value) -> Value:
        """The same value, with the NaNs of the hardware."""
        return a if a.nan != LOOSE_NAN else Value(a.type, "", a.offsets, ok=a.ok, nan=ONE_NAN)

    def all_exact(self, values: Operands) -> Operands:
        """The same values, each exact."""
        for value in values:
            if value.nan == LOOSE_NAN:
                return tuple([self.exact(value) for value in values])
        return values

    def _made(self, found: Result, name: str, type_: str = "") -> Value:
        """A result; `name` is the instruction that makes it, of `type_` if that converts."""
        return found[1]

    def apply(self, operation: str, *operands: Value) -> Value:
        sees = OPERATIONS.get(operation, UNKNOWN).nan
        signs = sees == SEES_SIGN and operands[0].constant == 0
        sees_payload = operands[0].type == "double" and sees not in (PASSES_NAN, KEEPS_NAN)
        if (sees <= SEES_SIGN and not signs) or sees_payload:
            operands = self.all_exact(operands)
        operation, operands = by_bits(operation, operands)
        found = arithmetic(operation, operands, self.shape)
        if found[0] == DIVISION:
            return self._divided(operation, found[1], *operands)
        result = self._made(found, operation)
        if signs or sees == KEEPS_NAN:
            return replace(result, nan=ONE_NAN if signs else operands[0].nan)
        return result

    def absolute(self, a: Value) -> Value:
        made = super().absolute(a)
        return made if made.low is None or made.low >= 0 else replace(made, low=0)

    def _divided(self, operation: str, facts: Value, a: Value, b: Value) -> Value:
        made = total_division(self, operation, a, tested_divisor(b), partial(self._quotient, operation))
        if made.constant is not None:
            return made
        return replace(made, low=facts.low, high=facts.high, zeros=0 if made.offsets is None else made.zeros)

    def _quotient(self, operation: str, a: Value, b: Value) -> Value:
        """The quotient or remainder by what is known to be a divisor."""
        return Value(a.type, "", no_offsets(self.shape.width) if a.uniform and b.uniform else None)

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        if not is_float(a.type):
            a, b = self.all_exact((a, b))
        instruction = "fcmp" if is_float(a.type) else "icmp"
        return self._made(comparison(predicate, a, b, self.shape), f"{instruction} {predicate}")

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        if EXACT_NAN in (a.nan, b.nan):
            a, b = self.all_exact((a, b))
        return self._made(selection(condition, a, b), "select")

    def convert(self, operation: str, a: Value, type_: str) -> Value:
        if operation == "bitcast" and a.type in SINGLE and type_ in SINGLE:
            found = conversion(operation, a, type_, self.shape)
            return replace(self._made(found, operation, type_), nan=a.nan)
        a = a if operation in BLIND_CONVERSIONS else self.exact(a)
        return self._made(conversion(operation, a, type_, self.shape), operation, type_)


class FactLanes(FactArithmetic):
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

    def unless(self, rare: Value, usual: Value, other: Callable[[], Value]) -> Value:
        if rare.constant is not None:
            return self.exact(other() if rare.constant else usual)
        return Value(usual.type, "", self._same if rare.uniform and usual.uniform else None)

    def look_up(self, table: Table, index: Value) -> Value:
        if index.constant is not None:
            return self.constant(table.type, table.patterns[index.constant])
        return Value(table.type, "", self._same if index.uniform else None)

    def outline(self, outline: Outline, operands: Sequence[Value]) -> tuple[Value, ...]:
        same = self._same if outline.lanewise and all(value.uniform for value in operands) else None
        return tuple(Value(type_, "", same) for type_ in outline.results)

    # ------------------------------------------------------------------------------------ the machine
    def special(self, name: str) -> Value:
        return self._specials.facts(name)

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

    def fetch(self, fetch: Fetch, handle: Value, operands: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(Value(type_, "") for type_ in fetch.results)

    @contextmanager
    def only(self, condition: Value) -> Iterator[None]:
        yield

    def system(self, name: str, result: str, operands: tuple[Value, ...]) -> Value:
        return Value(result, "")

    def arrive(self, barrier: Value, count: Value | None, predicate: Value | None, wait: bool) -> None:
        pass

    def cluster_phase(self, arrives: bool) -> Value:
        return Value("i32", "", self._same)

    def barrier_votes(self, barrier: Value) -> tuple[Value, Value]:
        return Value("i32", "", self._same), Value("i32", "", self._same)

    # ------------------------------------------------------------------------------------ across lanes
    def lane_constants(self, type_: str, patterns: tuple[int, ...]) -> Value:
        return Value(type_, "") if type_ == "i1" or is_float(type_) else lane_pattern(type_, patterns)

    def permute(self, a: Value, sources: tuple[int, ...]) -> Value:
        return self.exact(a) if a.uniform else Value(a.type, "")

    def shuffle(self, a: Value, source: Value) -> Value:
        return self.exact(a) if a.uniform else Value(a.type, "")

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
