"""NaNs of single precision made the hardware's only where someone could see the difference.

The hardware gives every NaN result of type float one pattern, the host some other. A comparison and a select
behind each operation would cost more than the operation. Here results stay as they are and are marked loose
(values.py); operations that only care that an operand is NaN take them so, and whatever else looks at the
bits (stores, integer operations, exchange between lanes, registers that also hold loaded values) gets the
exact ones. The mark survives a bit cast to i32: compilers keep floats in untyped registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..isa.lanes import Outline, Update
from ..isa.rounding import INFINITY, NAN
from ..isa.types import is_float
from .kinds import KindLanes
from .values import EXACT_NAN, LOOSE_NAN, ONE_NAN, Value

_BLIND = {"fadd", "fsub", "fmul", "fdiv", "llvm.fma", "llvm.sqrt"}
_BLIND |= {f"llvm.{name}" for name in ("roundeven", "trunc", "floor", "ceil")}
_BLIND |= {f"llvm.{name}" for name in ("minimum", "maximum", "minimumnum", "maximumnum")}
# A loose NaN has no sign that a meaning could want: every row that changes signs of floats gives one NaN.
_SIGNS = ("fneg", "llvm.fabs")
# Integers have no NaN, and halves one pattern for it: half.py tests for NaN.
_BLIND_CONVERSIONS = ("llvm.fptosi.sat", "llvm.fptoui.sat", "fptrunc")
_MAGNITUDE = 0x7FFFFFFF
_SINGLE = ("float", "i32")  # LLVM's types of a value of single precision


class LazyNanLanes(KindLanes):
    """Operations on values of any form whose NaNs may be loose."""

    def constant(self, type_: str, pattern: int) -> Value:
        value = super().constant(type_, pattern)
        is_other_nan = pattern != NAN["float"] and pattern & _MAGNITUDE > INFINITY["float"]
        return value if type_ not in _SINGLE or is_other_nan else replace(value, nan=ONE_NAN)

    def as_vector(self, a: Value) -> Value:
        return replace(super().as_vector(a), nan=a.nan)

    def one_nan(self, a: Value, pattern: int) -> Value:
        return replace(a, nan=LOOSE_NAN)

    def exact(self, a: Value) -> Value:
        if a.nan != LOOSE_NAN:
            return a
        settled = super().one_nan(self.bitcast(a, "float"), NAN["float"])
        return self.bitcast(replace(settled, nan=ONE_NAN), a.type)

    def _all_exact(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(self.exact(value) for value in values)

    def apply(self, operation: str, *operands: Value) -> Value:
        if operation in _BLIND:
            return super().apply(operation, *operands)
        if operation in _SIGNS:
            return replace(super().apply(operation, *operands), nan=operands[0].nan)
        if operation == "llvm.copysign" and operands[0].constant == 0:
            return replace(super().apply(operation, *operands), nan=ONE_NAN)
        return super().apply(operation, *self._all_exact(operands))

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        return super().compare(predicate, *((a, b) if is_float(a.type) else self._all_exact((a, b))))

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        if EXACT_NAN in (a.nan, b.nan):
            a, b = self._all_exact((a, b))
        return replace(super().select(condition, a, b), nan=max(a.nan, b.nan))

    def unless(self, rare: Value, usual: Value, other: Callable[[], Value]) -> Value:
        return super().unless(rare, self.exact(usual), lambda: self.exact(other()))

    def convert(self, operation: str, a: Value, type_: str) -> Value:
        if operation == "bitcast" and a.type in _SINGLE and type_ in _SINGLE:
            return replace(super().convert(operation, a, type_), nan=a.nan)
        return super().convert(operation, a if operation in _BLIND_CONVERSIONS else self.exact(a), type_)

    def outline(self, outline: Outline, operands: Sequence[Value]) -> tuple[Value, ...]:
        return super().outline(outline, self._all_exact(tuple(operands)))

    # ------------------------------------------------------------------------------------ the machine
    def store(self, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        super().store(space, address, self._all_exact(values), volatile)

    def atomic(self, space: str, operation: str, address: Value, operands: tuple[Value, ...]) -> Value:
        return super().atomic(space, operation, address, self._all_exact(operands))

    def update(
        self, space: str, change: Update, address: Value, given: Sequence[tuple[Value, ...]]
    ) -> tuple[Value, ...]:
        return super().update(space, change, address, [self._all_exact(operands) for operands in given])

    def permute(self, a: Value, sources: tuple[int, ...]) -> Value:
        return super().permute(self.exact(a), sources)

    def shuffle(self, a: Value, source: Value) -> Value:
        return super().shuffle(self.exact(a), source)

    def one_of(self, a: Value) -> str:
        return super().one_of(self.exact(a))

    def reduce(self, operation: str, a: Value) -> Value:
        return super().reduce(operation, self.exact(a))

    def equal_lanes(self, a: Value) -> Value:
        return super().equal_lanes(self.exact(a))
