"""Floating formats and rounding: what all floating rows share.

A value is exact in double precision wherever a row can arrange it; `narrow` then rounds once, in any mode, to
any smaller format. Where a double is not wide enough, `to_odd` folds what is missing into its last bit: a
number so rounded lies on the same side of every tie and of every number of a format two bits shorter, so the
rounding that follows decides as for the exact value (Boldo and Melquiond, "Emulation of a FMA").
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from .lanes import Lanes, Outline
from .types import bits, integer_of

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Format:
    """A binary floating format of at most 32 bits."""

    width: int
    exponent: int  # bits of the exponent
    fraction: int  # explicit bits of the significand
    nan: int  # the pattern that results have for NaN
    largest: int  # the pattern of the largest number

    @property
    def bias(self) -> int:
        """The exponent's bias."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def infinity(self) -> int:
        """The pattern after the largest number: infinity, where the format has one."""
        return self.largest + 1

    @property
    def sign(self) -> int:
        """The pattern of minus zero."""
        return 1 << (self.width - 1)


F32 = Format(32, 8, 23, 0x7FFFFFFF, 0x7F7FFFFF)
F16 = Format(16, 5, 10, 0x7FFF, 0x7BFF)
BF16 = Format(16, 8, 7, 0x7FFF, 0x7F7F)
TF32 = Format(19, 8, 10, 0x3FFFF, 0x3FBFF)
E4M3 = Format(8, 4, 3, 0x7F, 0x7E)
E5M2 = Format(8, 5, 2, 0x7F, 0x7B)
FORMATS = {"f32": F32, "f16": F16, "bf16": BF16, "tf32": TF32, "e4m3": E4M3, "e5m2": E5M2}

SMALLEST_NORMAL = {"float": 0x00800000, "double": 0x0010000000000000}
ONE = {"float": 0x3F800000, "double": 0x3FF0000000000000}
NAN = {"float": 0x7FFFFFFF, "double": 0xFFF8000000000000}
INFINITY = {"float": 0x7F800000, "double": 0x7FF0000000000000}
_QUIET = 1 << 51
_SIGN = 1 << 63


def number(lanes: Lanes[V], value: float) -> V:
    """A double."""
    return lanes.constant("double", int.from_bytes(struct.pack(">d", value), "big"))


def is_nan(lanes: Lanes[V], a: V) -> V:
    """Whether a value of type float or double is NaN."""
    return lanes.compare("uno", a, a)


def flush(lanes: Lanes[V], a: V) -> V:
    """Subnormal numbers as zeros of the same sign."""
    type_ = lanes.type_of(a)
    tiny = lanes.compare("olt", lanes.apply("llvm.fabs", a), lanes.constant(type_, SMALLEST_NORMAL[type_]))
    zero = lanes.apply("llvm.copysign", lanes.constant(type_, 0), a)
    return lanes.select(tiny, zero, a)


def flush_operand(lanes: Lanes[V], a: V) -> V:
    """An operand or result of arithmetic or of a comparison with subnormal numbers as zeros."""
    return a if lanes.flushes else flush(lanes, a)


def saturate(lanes: Lanes[V], a: V) -> V:
    """Clamped to [0, 1]; NaN and -0 become +0."""
    type_ = lanes.type_of(a)
    zero, one = lanes.constant(type_, 0), lanes.constant(type_, ONE[type_])
    below_one = lanes.select(lanes.compare("olt", a, one), a, one)
    # An unordered comparison is false, so NaN becomes one above and must be tested on `a` itself.
    return lanes.select(lanes.compare("ogt", a, zero), below_one, zero)


def settle(lanes: Lanes[V], result: V, *operands: V, invalid: V | None = None) -> V:
    """A result with the NaN that the hardware gives.

    Single precision knows one NaN. In double precision the first of `operands` that is NaN passes, made
    quiet; an invalid operation gives the NaN of NAN. `invalid` says where the result is NaN if it is known
    otherwise.
    """
    type_ = lanes.type_of(result)
    default = lanes.constant(type_, NAN[type_])
    if type_ == "float":
        if invalid is None:
            return lanes.one_nan(result, NAN[type_])
        return lanes.select(invalid, default, result)
    if invalid is None:
        invalid = is_nan(lanes, result)
    return lanes.unless(invalid, result, lambda: lanes.outline(_first_nan(len(operands)), operands)[0])


@cache
def _first_nan(count: int) -> Outline:
    """The first of so many doubles that is NaN, made quiet; the NaN of NAN if there is none."""

    def make(lanes: Lanes[Any], *operands: Any) -> tuple[Any]:
        found = lanes.constant("double", NAN["double"])
        for operand in reversed(operands):
            quiet = lanes.or_(lanes.bitcast(operand, "i64"), lanes.constant("i64", _QUIET))
            found = lanes.select(is_nan(lanes, operand), lanes.bitcast(quiet, "double"), found)
        return (found,)

    return Outline(f"first_nan_of_{count}", ("double",), make, lanewise=True)


def to_odd(lanes: Lanes[V], a: V, rest: V) -> V:
    """a + rest rounded to odd, where `a` is the nearest number to it; `rest` may be NaN if not finite."""
    type_ = lanes.type_of(a)
    whole = integer_of(type_)
    pattern = lanes.bitcast(a, whole)
    one, zero = lanes.constant(whole, 1), lanes.constant(type_, 0)
    other_sign = lanes.xor(
        lanes.compare("olt", rest, zero), lanes.compare("slt", pattern, lanes.constant(whole, 0))
    )
    inward = lanes.sub(pattern, lanes.extend(other_sign, whole, signed=False))
    is_even = lanes.compare("eq", lanes.and_(pattern, one), lanes.constant(whole, 0))
    change = lanes.and_(is_even, lanes.compare("one", rest, zero))
    return lanes.bitcast(lanes.select(change, lanes.or_(inward, one), pattern), type_)


def odd_single(lanes: Lanes[V], a: V) -> V:
    """A double rounded to odd in single precision."""
    near = lanes.convert("fptrunc", a, "float")
    rest = lanes.sub(a, lanes.convert("fpext", near, "double"))
    # What is too large became infinite; the largest number is odd and stands for it.
    overflowed = lanes.compare(
        "oeq", lanes.apply("llvm.fabs", rest), lanes.constant("double", INFINITY["double"])
    )
    largest = lanes.apply("llvm.copysign", lanes.constant("float", F32.largest), near)
    rest = lanes.convert("fptrunc", lanes.mul(rest, lanes.constant("double", 0x5000000000000000)), "float")
    return lanes.select(overflowed, largest, to_odd(lanes, near, rest))


def two_sum(lanes: Lanes[V], a: V, b: V) -> tuple[V, V]:
    """The nearest number to a + b and exactly what is missing."""
    total = lanes.add(a, b)
    of_b = lanes.sub(total, a)
    of_a = lanes.sub(total, of_b)
    return total, lanes.add(lanes.sub(a, of_a), lanes.sub(b, of_b))


def unless_smallest(lanes: Lanes[V], near: V, other: Callable[[], V]) -> V:
    """Singles as they are, but for the smallest normal numbers: from below those are reached by rounding to
    a subnormal number's place, and the hardware flushes what is subnormal if rounded to a normal one's."""
    smallest = lanes.constant("float", SMALLEST_NORMAL["float"])
    return lanes.unless(lanes.compare("oeq", lanes.apply("llvm.fabs", near), smallest), near, other)


def narrow(
    lanes: Lanes[V], a: V, f: Format, mode: str = "rn", *, finite: bool = False, flush: bool = False
) -> V:
    """A double rounded to a format, as its pattern in the integer type that holds it.

    Modes are rn, rna (ties away from zero), rz, rm, rp. Too large numbers become infinite as the mode says;
    if `finite`, they and infinities become the largest number. If `flush`, numbers that are subnormal after
    rounding to a normal number's place become zero.
    """
    k = lambda value: lanes.constant("i64", value)  # noqa: E731
    whole = lanes.bitcast(a, "i64")
    negative = lanes.compare("slt", whole, k(0))
    magnitude = lanes.and_(whole, k(_SIGN - 1))
    exponent = lanes.apply("lshr", magnitude, k(52))
    significand = lanes.or_(lanes.and_(magnitude, k((1 << 52) - 1)), k(1 << 52))
    significand = lanes.select(lanes.compare("eq", magnitude, k(0)), k(0), significand)
    # The exponent at which the format's normal numbers begin; below it more bits are dropped.
    lowest = k(1024 - f.bias)
    missing = k(0) if flush else lanes.apply("llvm.smax", lanes.sub(lowest, exponent), k(0))
    drop = lanes.apply("llvm.umin", lanes.add(missing, k(52 - f.fraction)), k(62))
    kept = lanes.apply("lshr", significand, drop)
    rest = lanes.sub(significand, lanes.apply("shl", kept, drop))
    half = lanes.apply("lshr", lanes.apply("shl", k(1), drop), k(1))
    kept = lanes.add(kept, _increment(lanes, mode, kept, rest, half, negative))
    above = lanes.sub(exponent, lowest)
    above = above if flush else lanes.apply("llvm.smax", above, k(0))
    pattern = lanes.add(kept, lanes.apply("shl", above, k(f.fraction)))
    if flush:
        pattern = lanes.select(lanes.compare("slt", pattern, k(1 << f.fraction)), k(0), pattern)
    beyond = k(f.largest) if finite else _beyond(lanes, f, mode, negative)
    pattern = lanes.select(lanes.compare("ugt", pattern, k(f.largest)), beyond, pattern)
    if not finite:
        infinite = lanes.compare("eq", magnitude, k(INFINITY["double"]))
        pattern = lanes.select(infinite, k(f.infinity), pattern)
    pattern = lanes.or_(pattern, lanes.select(negative, k(f.sign), k(0)))
    pattern = lanes.select(is_nan(lanes, a), k(f.nan), pattern)
    return lanes.extend(pattern, f"i{max(8, 1 << (f.width - 1).bit_length())}", signed=False)


def _increment(lanes: Lanes[V], mode: str, kept: V, rest: V, half: V, negative: V) -> V:
    """1 where a magnitude is rounded up, else 0."""
    zero, one = lanes.constant("i64", 0), lanes.constant("i64", 1)
    if mode == "rz":
        return zero
    if mode == "rn":
        # At a tie only an odd number is rounded up.
        up = lanes.compare("ugt", lanes.add(rest, lanes.and_(kept, one)), half)
    elif mode == "rna":
        up = lanes.compare("uge", rest, half)
    else:
        outward = negative if mode == "rm" else lanes.not_(negative)
        up = lanes.and_(lanes.compare("ne", rest, zero), outward)
    return lanes.extend(up, "i64", signed=False)


def _beyond(lanes: Lanes[V], f: Format, mode: str, negative: V) -> V:
    """What numbers above the largest become."""
    largest, infinity = lanes.constant("i64", f.largest), lanes.constant("i64", f.infinity)
    if mode == "rz":
        return largest
    if mode in ("rm", "rp"):
        return lanes.select(negative, *((infinity, largest) if mode == "rm" else (largest, infinity)))
    return infinity


def widen(lanes: Lanes[V], pattern: V, f: Format) -> V:
    """A format's pattern as the double of the same value; NaN keeps sign and payload and is made quiet."""
    k = lambda value: lanes.constant("i64", value)  # noqa: E731
    assert bits(lanes.type_of(pattern)) >= f.width
    whole = lanes.extend(pattern, "i64", signed=False)
    magnitude = lanes.and_(whole, k(f.sign - 1))
    sign = lanes.apply("shl", lanes.and_(whole, k(f.sign)), k(64 - f.width))
    # Read as a double the pattern is too small by the difference of the biases, subnormal numbers included.
    small = lanes.apply("shl", magnitude, k(52 - f.fraction))
    value = lanes.mul(lanes.bitcast(small, "double"), lanes.constant("double", (1023 + 1023 - f.bias) << 52))
    infinite, special = k(INFINITY["double"]), lanes.or_(small, k(INFINITY["double"] | _QUIET))
    if f.infinity != f.nan:
        special = lanes.select(lanes.compare("eq", magnitude, k(f.infinity)), infinite, special)
    is_special = lanes.compare("uge", magnitude, k(f.infinity))
    value = lanes.select(is_special, special, lanes.bitcast(value, "i64"))
    return lanes.bitcast(lanes.or_(value, sign), "double")
