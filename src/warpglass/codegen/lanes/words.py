"""Integers of 64 bits of which 32 suffice: these are computed with, and twice as many fit into a register.

All integers of Python have 64 bits, sums of bytes among them. Where bounds show that an operation's operands
and its result are 32-bit integers, it is done with those. The 64-bit vector is what they are extended to;
LLVM drops that where nothing needs it. Of registers that come from other blocks only the 64-bit vector is
known, and they are not narrowed for it: in a loop that would take longer than the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ...isa.types import BITS
from ..memory.local import LocalMemory
from ..memory.warp_atomics import WarpAtomics
from ..probes import Probe
from ..shape import BlockShape, Promises
from . import ranges
from .payloads import PayloadLanes
from .values import Value

_NARROW = ("i8", "i16", "i32")
# Operations that on extended words give the extended result, if that is a word. Words keep their order when
# they are extended, read as signed and as unsigned.
_KEEPING = {"add", "sub", "mul", "and", "or", "xor", "llvm.smin", "llvm.smax", "llvm.umin", "llvm.umax"}
_SHIFTS = {"lshr", "ashr"}
# The greatest factor for which multiplications by a constant are tried on all factors.
_MOST_TRIED = 1 << 16


class WordLanes(PayloadLanes):
    """Operations on vectors of which the words may be known."""

    def __init__(
        self,
        access: WarpAtomics,
        local: LocalMemory,
        shape: BlockShape,
        promises: Promises,
        probes: Sequence[Probe] = (),
    ):
        super().__init__(access, local, shape, promises, probes)
        self._words: dict[str, str] = {}  # vectors of i64 -> of i32 that they are extended from, by sign
        self._scalars: dict[str, Value] = {}  # vectors of i64 -> what they were made of

    def as_vector(self, a: Value) -> Value:
        made = super().as_vector(a)
        if a.type == "i64" and a.offsets is not None and a.ok is None and _is_word(a):
            self._scalars[made.ir] = a
        return made

    def _word(self, a: Value) -> Value | None:
        """A vector's words, if they are at hand."""
        if a.ir in self._words:
            return Value("i32", self._words[a.ir], None, None, a.low, a.high)
        scalar = self._scalars.get(a.ir)
        return None if scalar is None else self.as_vector(super().convert("trunc", scalar, "i32"))

    def _in_words(self, *operands: Value) -> list[Value] | None:
        """All operands' words; None if some are none, or all were as cheap as vectors of 64 bits."""
        if any(one.type != "i64" or one.offsets is not None or not _is_word(one) for one in operands):
            return None
        if all(one.ir not in self._words for one in operands):
            return None
        if any(one.ir not in self._words and one.ir not in self._scalars for one in operands):
            return None
        return [word for one in operands if (word := self._word(one)) is not None]

    def _extended(self, word: Value) -> Value:
        whole, wide = (self.builder.vector(type_) for type_ in ("i32", "i64"))
        name = self.builder.value(f"sext {whole} {word.ir} to {wide}")
        self._words[name] = word.ir
        return Value("i64", name, None, None, word.low, word.high)

    # ------------------------------------------------------------------------------------ emission
    def _emit(self, operation: str, operands: tuple[Value, ...], *, lanes: int = 0) -> Value:
        if lanes or operands[0].type != "i64" or not _keeps_words(operation, operands):
            return super()._emit(operation, operands, lanes=lanes)
        words = None if self._shifts(operation, operands) else self._in_words(*operands)
        if words is None:
            return super()._emit(operation, operands)
        return self._extended(super()._emit(operation, tuple(words)))

    def _shifts(self, operation: str, operands: tuple[Value, ...]) -> bool:
        """Whether a product is a shift to the left: so go addresses, which have 64 bits in any case."""
        factors = [self._scalars[one.ir].constant or 0 for one in operands if one.ir in self._scalars]
        return operation == "mul" and any(factor & -factor == factor for factor in factors)

    def _compare(self, predicate: str, a: Value, b: Value, *, lanes: int = 0) -> Value:
        words = self._in_words(a, b) if not lanes else None
        return super()._compare(predicate, *(words or (a, b)), lanes=lanes)

    def _select(self, condition: Value, a: Value, b: Value, *, lanes: int = 0) -> Value:
        words = self._in_words(a, b) if not lanes else None
        if words is None:
            return super()._select(condition, a, b, lanes=lanes)
        return self._extended(super()._select(condition, *words))

    def _convert(self, operation: str, a: Value, type_: str, *, lanes: int = 0) -> Value:
        if lanes or type_ != "i64" or a.type not in _NARROW or operation not in ("sext", "zext"):
            return super()._convert(operation, a, type_, lanes=lanes)
        if a.type != "i32":
            return self._extended(super()._convert(operation, a, "i32"))
        if operation == "sext" or (a.low is not None and a.low >= 0):
            return self._extended(a)
        return super()._convert(operation, a, type_)

    # ------------------------------------------------------------------------------------ products
    def multiply_high(self, a: Value, b: Value, signed: bool) -> Value:
        if a.constant is not None:
            a, b = b, a
        factor, shift = None, 0
        if b.constant is not None and a.offsets is None and a.low is not None and a.low >= 0:
            negative = signed and b.constant >> (BITS[a.type] - 1)
            if a.high is not None and a.high < _MOST_TRIED and not negative:
                factor, shift = short_factor(b.constant, BITS[a.type], a.high)
        word = self._words.get(a.ir) if a.type == "i64" else a.ir if a.type == "i32" else None
        if factor is None or word is None:
            return super().multiply_high(a, b, signed)
        words = Value("i32", word, None, None, a.low, a.high)
        product = self.apply("mul", words, self.constant("i32", factor))
        high = self.apply("lshr", product, self.constant("i32", shift))
        if high.constant is not None:
            return self.constant(a.type, high.constant)
        return high if a.type == "i32" else self._extended(high)


def _is_word(a: Value) -> bool:
    return a.low is not None and a.high is not None and ranges.fit(a.low, a.high, 32) is not None


def _keeps_words(operation: str, operands: tuple[Value, ...]) -> bool:
    """Whether an operation on words gives the words of the 64-bit result."""
    if len(operands) != 2 or not (operation in _KEEPING or operation in _SHIFTS):
        return False
    (a, b) = operands
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return False
    if operation in _SHIFTS and not (b.low >= 0 and b.high < 32 and (operation == "ashr" or a.low >= 0)):
        return False
    found = ranges.combine(operation, 64, (a.low, a.high), (b.low, b.high))
    if found is None:  # what keeps words in any case
        return operation in ("and", "or", "xor")
    return ranges.fit(*found, 32) is not None


@lru_cache(maxsize=256)
def short_factor(factor: int, width: int, most: int) -> tuple[int | None, int]:
    """Another factor and a shift that give the upper half of a product of all numbers from 0 to `most`.

    Their products have 31 bits at most; None if there is no such factor. Compilers write divisions by
    constants with a `factor` of all `width` bits, as numbers of so many bits need it.
    """
    shift = width - max(0, factor.bit_length() + most.bit_length() - 31)
    dropped = width - shift
    if not 0 < shift < 32 or dropped + most.bit_length() > 63:
        return None, 0
    short = -(-factor >> dropped)
    if short * most >= 1 << 31:
        return None, 0
    numbers = np.arange(most + 1, dtype=np.uint64)
    rest = (numbers * np.uint64(factor)) & np.uint64((1 << width) - 1)
    excess = numbers * np.uint64((short << dropped) - factor)
    room = np.uint64((1 << width) - 1) - rest
    return (short, shift) if bool((excess <= room).all()) else (None, 0)
