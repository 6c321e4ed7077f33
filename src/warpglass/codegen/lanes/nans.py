"""NaNs of single precision made the hardware's only where someone could see the difference.

The hardware gives every NaN result of type float one pattern, the host some other. A comparison and a select
behind each operation would cost more than the operation. Here results stay as they are and are marked loose
(values.py); operations that only care that an operand is NaN take them so, and whatever else looks at the
bits (stores, integer operations, exchange between lanes, registers that also hold loaded values) gets the
exact ones. The mark survives a bit cast to i32: compilers keep floats in untyped registers.

In double precision NaNs have payloads that pass, so results are looked at, for many operations at once where
that suffices (payloads.py); here by comparing the lower half of the lanes with the upper one, which says of
two results at once whether one is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...isa.lanes import Outline, Update
from ...isa.rounding import INFINITY, NAN
from ...isa.types import is_float
from ..builder import vector
from ..memory.local import LocalMemory
from ..memory.warp_atomics import WarpAtomics
from ..probes import Probe
from ..shape import BlockShape, Promises
from .known import KnownLanes
from .values import EXACT_NAN, LOOSE_NAN, ONE_NAN, Value, replace

_BLIND = {"fadd", "fsub", "fmul", "fdiv", "llvm.fma", "llvm.sqrt"}
_BLIND |= {f"llvm.{name}" for name in ("roundeven", "trunc", "floor", "ceil")}
_BLIND |= {f"llvm.{name}" for name in ("minimum", "maximum", "minimumnum", "maximumnum")}
# A loose NaN has no sign that a meaning could want: every row that changes signs of floats gives one NaN.
_SIGNS = ("fneg", "llvm.fabs")
# Integers have no NaN, and halves one pattern for it: half.py tests for NaN.
_BLIND_CONVERSIONS = ("llvm.fptosi.sat", "llvm.fptoui.sat", "fptrunc")
_MAGNITUDE = 0x7FFFFFFF
_SINGLE = ("float", "i32")  # LLVM's types of a value of single precision


class LazyNanLanes(KnownLanes):
    """Operations on values of any form whose NaNs may be loose."""

    def __init__(
        self,
        access: WarpAtomics,
        local: LocalMemory,
        shape: BlockShape,
        promises: Promises,
        probes: Sequence[Probe] = (),
    ):
        super().__init__(access, local, shape, promises, probes)
        self._constants: dict[tuple[str, int], Value] = {}
        self._nan_tests: dict[str, Value] = {}  # comparison of a double vector with itself -> the vector

    def constant(self, type_: str, pattern: int) -> Value:
        value = self._constants.get((type_, pattern))
        if value is None:
            value = super().constant(type_, pattern)
            is_other_nan = pattern != NAN["float"] and pattern & _MAGNITUDE > INFINITY["float"]
            if type_ in _SINGLE and not is_other_nan:
                value = replace(value, nan=ONE_NAN)
            self._constants[type_, pattern] = value
        return value

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
        result = super().compare(predicate, *((a, b) if is_float(a.type) else self._all_exact((a, b))))
        if predicate == "uno" and a.type == "double" and a is b and a.offsets is None:
            self._nan_tests[result.ir] = a
        return result

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        if EXACT_NAN in (a.nan, b.nan):
            a, b = self._all_exact((a, b))
        return replace(super().select(condition, a, b), nan=max(a.nan, b.nan))

    def unless(self, rare: Value, usual: Value, other: Callable[[], Value]) -> Value:
        usual, settled = self.exact(usual), lambda: self.exact(other())
        tested = self._nan_tests.get(rare.ir)
        if tested is None:
            return super().unless(rare, usual, settled)
        in_lanes = lambda: self._select(rare, self.as_vector(settled()), usual)  # noqa: E731
        return self._unless(self._someone_nan(tested), self.as_vector(usual), in_lanes)

    def _someone_nan(self, a: Value) -> str:
        """An i1 that holds if some active lane, or the lane half of them away from it, is NaN."""
        b, half = self.builder, self.width // 2
        whole, lanes = b.vector(a.type), b.lanes
        halves = [
            b.value(f"shufflevector {whole} {a.ir}, {whole} poison, <{half} x i32> <{picks}>")
            for picks in (", ".join(f"i32 {first + k}" for k in range(half)) for first in (0, half))
        ]
        bits = b.mask_bits(b.value(f"fcmp uno {vector(a.type, half)} {halves[0]}, {halves[1]}"), half)
        if self.mask != "-1":
            either = b.value(f"or {lanes} {self.mask}, {b.value(f'lshr {lanes} {self.mask}, {half}')}")
            bits = b.value(f"and i{half} {bits}, {b.value(f'trunc {lanes} {either} to i{half}')}")
        return b.value(f"icmp ne i{half} {bits}, 0")

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
