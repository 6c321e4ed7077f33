"""IEEE arithmetic done exactly: bit patterns to fractions and back, rounded once by integer arithmetic.

Slow and obvious, and no floating-point unit has a say in it: the oracle for every floating row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

INF = math.inf
Number = Fraction | float  # a float only for an infinity or NaN


@lru_cache(maxsize=1 << 14)
def two_to(exponent: int) -> Fraction:
    """A power of two."""
    return Fraction(2) ** exponent


@dataclass(frozen=True)
class Format:
    """A binary floating format; `flushes` if encoding gives zero for results that are subnormal."""

    width: int
    fraction: int  # explicit bits of the significand
    flushes: bool = False

    @property
    def flushing(self) -> Format:
        """The same format with flushed results."""
        return replace(self, flushes=True)

    @cached_property
    def smallest(self) -> Fraction:
        """The smallest normal number."""
        return two_to(1 - self.bias)

    @cached_property
    def bias(self) -> int:
        """The exponent's bias."""
        return (1 << (self.width - self.fraction - 2)) - 1

    @cached_property
    def infinity(self) -> int:
        """The pattern of plus infinity."""
        return ((1 << (self.width - 1 - self.fraction)) - 1) << self.fraction

    @cached_property
    def sign(self) -> int:
        """The pattern of minus zero."""
        return 1 << (self.width - 1)

    @cached_property
    def nan(self) -> int:
        """A NaN."""
        return self.infinity | (1 << (self.fraction - 1))

    def is_nan(self, pattern: int) -> bool:
        """Whether a pattern is a NaN."""
        return pattern & ~self.sign > self.infinity

    def decode(self, pattern: int) -> Number:
        """A pattern's value; both zeros give 0."""
        magnitude = pattern & ~self.sign
        negative = bool(pattern & self.sign)
        if magnitude >= self.infinity:
            return math.nan if magnitude > self.infinity else (-INF if negative else INF)
        exponent, significand = magnitude >> self.fraction, magnitude & ((1 << self.fraction) - 1)
        if exponent:
            significand |= 1 << self.fraction
        return (-significand if negative else significand) * two_to(
            max(exponent, 1) - self.bias - self.fraction
        )

    def encode(self, value: Number, negative_zero: bool = False, mode: str = "rn") -> int:
        """The pattern that a value is rounded to: `rn` and `rna` to the nearest, ties to even or away from
        zero; `rz` towards zero, `rm` down, `rp` up. `negative_zero` is the sign of an exact zero."""
        if isinstance(value, float):
            return self.nan if math.isnan(value) else self.infinity | (self.sign if value < 0 else 0)
        if value == 0:
            return self.sign if negative_zero else 0
        sign = self.sign if value < 0 else 0
        magnitude = abs(value)
        exponent = _floor_log2(magnitude)
        # The hardware asks for subnormal results after rounding to a normal number's place.
        least = exponent if self.flushes else 1 - self.bias
        unit = two_to(max(exponent, least) - self.fraction)
        away = mode == ("rm" if value < 0 else "rp")
        steps = _NEAREST.get(mode, math.ceil if away else math.floor)(magnitude / unit)
        if self.flushes and exponent < 1 - self.bias:
            return sign | (0 if steps * unit < self.smallest else 1 << self.fraction)
        pattern = steps + ((max(exponent + self.bias, 1) - 1) << self.fraction)
        largest = self.infinity if away or mode in _NEAREST else self.infinity - 1
        return sign | min(pattern, largest)

    def flush(self, pattern: int) -> int:
        """Subnormals become zero of the same sign."""
        return pattern & self.sign if pattern & ~self.sign < 1 << self.fraction else pattern


# Of magnitudes in units of the last place; Python's round takes halves to even.
_NEAREST: dict[str, Callable[[Fraction], int]] = {
    "rn": round,
    "rna": lambda steps: math.floor(steps + Fraction(1, 2)),
}
SINGLE = Format(32, 23)
DOUBLE = Format(64, 52)
FORMATS = {"f32": SINGLE, "f64": DOUBLE}


def _floor_log2(value: Fraction | int) -> int:
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if two_to(guess) <= value else guess - 1


def _sign(f: Format, pattern: int) -> bool:
    return bool(pattern & f.sign)


def _zero_sum(a: bool, b: bool, mode: str) -> bool:
    """Whether a sum that is zero is -0, given which summands are negative."""
    return (a or b) if mode == "rm" else (a and b)


def add(f: Format, a: int, b: int, mode: str = "rn") -> int:
    """a + b, rounded."""
    x, y = f.decode(a), f.decode(b)
    if isinstance(x, float) or isinstance(y, float):
        return f.encode(_as_float(x) + _as_float(y))
    return f.encode(x + y, _zero_sum(_sign(f, a), _sign(f, b), mode), mode)


def negate(f: Format, a: int) -> int:
    """The sign flipped."""
    return a ^ f.sign


def multiply(f: Format, a: int, b: int, mode: str = "rn") -> int:
    """a * b, rounded."""
    x, y = f.decode(a), f.decode(b)
    negative = _sign(f, a) != _sign(f, b)
    if isinstance(x, float) or isinstance(y, float):
        return f.encode(_as_float(x) * _as_float(y))
    return f.encode(x * y, negative, mode)


def fused(f: Format, a: int, b: int, c: int, mode: str = "rn") -> int:
    """a * b + c, rounded once."""
    x, y, z = f.decode(a), f.decode(b), f.decode(c)
    negative = _sign(f, a) != _sign(f, b)
    if any(isinstance(v, float) for v in (x, y, z)):
        product = _as_float(x) * _as_float(y)
        return f.encode(product + _as_float(z)) if not math.isfinite(product) else f.encode(_as_float(z))
    assert isinstance(x, Fraction)
    assert isinstance(y, Fraction)
    assert isinstance(z, Fraction)
    return f.encode(x * y + z, _zero_sum(negative, _sign(f, c), mode), mode)


def divide(f: Format, a: int, b: int, mode: str = "rn") -> int:
    """a / b, rounded."""
    x, y = f.decode(a), f.decode(b)
    negative = _sign(f, a) != _sign(f, b)
    if x != x or y != y:
        return f.nan
    if isinstance(y, float):
        return f.nan if isinstance(x, float) else f.encode(Fraction(0), negative)
    if isinstance(x, float) or y == 0:
        return f.nan if x == 0 else f.encode(-INF if negative else INF)
    return f.encode(x / y, negative, mode)


def square_root(f: Format, a: int, mode: str = "rn") -> int:
    """The square root, rounded."""
    x = f.decode(a)
    if isinstance(x, float):
        return f.nan if x != INF else f.infinity
    if x == 0:
        return a
    if x < 0:
        return f.nan
    # An even power of two scales x to an integer of more than twice the format's digits; the last bit says
    # whether the root is exact, so that rounding sees which side of a tie it is on.
    scale = 2 * (f.fraction + 4) + 2 * abs(_floor_log2(x))
    scaled = x * two_to(2 * scale)
    assert scaled.denominator == 1
    root = math.isqrt(scaled.numerator)
    sticky = Fraction(1, 2) if root * root != scaled.numerator else Fraction(0)
    return f.encode((root + sticky) / two_to(scale), mode=mode)


def smaller(f: Format, a: int, b: int) -> int:
    """The smaller number; -0 is smaller than +0, a number wins over NaN."""
    return _choose(f, a, b, lambda x, y: x < y)


def larger(f: Format, a: int, b: int) -> int:
    """The larger number, with min's rules for zeros and NaN."""
    return _choose(f, a, b, lambda x, y: x > y)


def _choose(f: Format, a: int, b: int, first: Callable[[Any, Any], bool]) -> int:
    if f.is_nan(a) or f.is_nan(b):
        return f.nan if f.is_nan(a) and f.is_nan(b) else (b if f.is_nan(a) else a)

    def key(pattern: int) -> tuple[Number, int]:
        return f.decode(pattern), 0 if _sign(f, pattern) else 1

    return a if first(key(a), key(b)) else b


def saturate(f: Format, a: int) -> int:
    """Clamped to [0, 1], NaN to +0."""
    x = f.decode(a)
    if x != x or x <= 0:
        return 0
    return f.encode(Fraction(1)) if x >= 1 else a


def _as_float(x: Number) -> float:
    """A stand-in that keeps sign and kind, for arithmetic with infinities and NaN."""
    if isinstance(x, float):
        return x
    return 0.0 if x == 0 else math.copysign(1.0, x)
