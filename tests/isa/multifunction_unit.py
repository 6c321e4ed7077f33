"""The multifunction unit of NVIDIA's hardware in integers, and what ptxas writes around it.

Written from the definition, partial product by partial product, apart from isa/interpolator.py; only the
measured tables are shared. Functions take and give float32 arrays. A model like this one was compared with an
H100 for all 2**32 arguments of each function.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

import warpglass.isa

Floats = np.ndarray[tuple[int], np.dtype[np.float32]]
Integers = np.ndarray[tuple[int], np.dtype[np.int64]]

TABLES = json.loads((Path(warpglass.isa.__file__).with_name("interpolator.json")).read_text("utf-8"))
_NAN, _INFINITY, _SIGN, _TINY = 0x7FFFFFFF, 0x7F800000, 0x80000000, 0x00800000
_CUT = {16: 17, 17: 19}  # the squarer's first column, by bits of the distance
_SEGMENTS = (0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3)  # log2 of the rows of tanh, by binade from 2**-8


def square(distance: Integers, bits: int) -> Integers:
    """The partial products of the columns that the squarer has, in units of the first."""
    total = np.zeros_like(distance)
    for i in range(bits):
        for j in range(i, bits):
            column = 2 * i if i == j else i + j + 1
            if column >= _CUT[bits]:
                total += ((distance >> i) & (distance >> j) & 1) << column
    return total >> _CUT[bits]


def _sum(name: str, row: Integers, distance: Integers) -> Integers:
    table = TABLES[name]
    c0, c1, c2 = np.array(table["rows"], np.int64).T
    constant = (c0[row] << table["step"]) + table["bias"]
    return constant + c1[row] * distance + c2[row] * square(distance, table["bits"])


def _pack(value: Integers, exponent: Integers | int) -> Integers:
    """The pattern of value * 2**exponent, cut; zero for subnormal numbers, infinity for too large ones."""
    top = np.frexp(value.astype(np.float64))[1].astype(np.int64) - 1
    top -= (value >> np.maximum(top, 0)) == 0  # rounded up to a power of two
    mantissa = np.where(top >= 23, value >> np.maximum(top - 23, 0), value << np.maximum(23 - top, 0))
    biased = top + exponent + 127
    packed = (biased << 23) | (mantissa & 0x7FFFFF)
    packed = np.where(biased >= 255, _INFINITY, packed)
    return np.where((value <= 0) | (biased <= 0), 0, packed)


class _Argument:
    def __init__(self, x: Floats):
        self.pattern = x.view(np.uint32).astype(np.int64)
        self.magnitude = self.pattern & 0x7FFFFFFF
        self.sign = self.pattern & _SIGN
        self.exponent = (self.magnitude >> 23) - 127
        self.mantissa = self.magnitude & 0x7FFFFF

    def result(self, usual: Integers, *others: tuple[np.ndarray, Integers | int]) -> Floats:
        """The result with exceptions, the first that holds counting, after NaN."""
        for condition, pattern in reversed(others):
            usual = np.where(condition, pattern, usual)
        usual = np.where(self.magnitude > _INFINITY, _NAN, usual)
        return usual.astype(np.uint32).view(np.float32)


def rcp(x: Floats) -> Floats:
    a = _Argument(x)
    total = _sum("rcp", a.mantissa >> 16, a.mantissa & 0xFFFF)
    usual = a.sign | _pack(total, -39 - a.exponent)
    return a.result(usual, (a.magnitude == _INFINITY, a.sign), (a.magnitude < _TINY, a.sign | _INFINITY))


def _root(name: str, a: _Argument) -> tuple[Integers, Integers]:
    odd = a.exponent & 1
    total = _sum(name, (odd << 6) | (a.mantissa >> 17), a.mantissa & 0x1FFFF)
    return total, (a.exponent - odd) // 2


def rsqrt(x: Floats) -> Floats:
    a = _Argument(x)
    total, half = _root("rsqrt", a)
    exact = (a.mantissa == 0) & (a.exponent & 1 == 0)
    return a.result(
        _pack(total, -40 - half),
        (a.magnitude < _TINY, a.sign | _INFINITY),
        (a.sign != 0, _NAN),
        (a.magnitude == _INFINITY, 0),
        (exact, (127 - half) << 23),
    )


def sqrt(x: Floats) -> Floats:
    a = _Argument(x)
    total, half = _root("sqrt", a)
    infinite = a.magnitude == _INFINITY
    usual = _pack(total, -40 + half)
    return a.result(usual, (a.magnitude < _TINY, a.sign), (a.sign != 0, _NAN), (infinite, _INFINITY))


def ex2(x: Floats) -> Floats:
    a = _Argument(x)
    size = np.where(a.magnitude < 0x43800000, a.magnitude, 0).astype(np.uint32).view(np.float32)
    fixed = np.trunc(size.astype(np.float64) * 2.0**23).astype(np.int64)
    fixed = np.where(a.sign == 0, fixed, np.where(fixed & 0x7FFFFF, -fixed - 1, -fixed))
    fraction = fixed & 0x7FFFFF
    usual = _pack(_sum("ex2", fraction >> 17, fraction & 0x1FFFF), -38 + (fixed >> 23))
    large = np.where(a.sign == 0, _INFINITY, 0)
    return a.result(usual, (a.magnitude < _TINY, 0x3F800000), (a.magnitude >= 0x43800000, large))


def lg2(x: Floats) -> Floats:
    a = _Argument(x)
    total = (a.exponent << 36) + (_sum("lg2", a.mantissa >> 17, a.mantissa & 0x1FFFF) >> 2)
    usual = np.where(total < 0, _SIGN | _pack(-total - 1, -36), _pack(total, -36))
    return a.result(
        usual,
        (a.magnitude < _TINY, 0xFF800000),
        (a.sign != 0, _NAN),
        (a.magnitude == _INFINITY, _INFINITY),
        (a.magnitude == 0x3F800000, 0),
    )


def _circle(x: Floats, quarters: int) -> Floats:
    a = _Argument(x)
    factor = np.float64(np.float32(1 / (2 * np.pi)))
    size = np.where((a.magnitude < _TINY) | (a.magnitude >= _INFINITY), 0, a.magnitude)
    exact = size.astype(np.uint32).view(np.float32).astype(np.float64) * factor  # 48 bits
    pattern = exact.view(np.int64) >> 29 << 29
    circles = pattern.view(np.float64)
    fixed = np.trunc(np.mod(circles, 1.0) * 2.0**25).astype(np.int64)
    quadrant = ((fixed >> 23) + quarters) & 3
    low = np.where(quadrant & 1, ~fixed, fixed) & 0x7FFFFF
    usual = _pack(_sum("sin", low >> 17, low & 0x1FFFF), -38) | np.where(quadrant & 2, _SIGN, 0)
    if not quarters:
        usual ^= a.sign
    return a.result(usual, (a.magnitude == _INFINITY, _NAN))


def sin(x: Floats) -> Floats:
    return _circle(x, 0)


def cos(x: Floats) -> Floats:
    return _circle(x, 1)


def tanh(x: Floats) -> Floats:
    a = _Argument(x)
    binade = np.clip(a.exponent + 8, 0, len(_SEGMENTS) - 1)
    depth = np.array(_SEGMENTS)[binade]
    first = np.array([sum(1 << k for k in _SEGMENTS[:n]) for n in range(len(_SEGMENTS))])[binade]
    row, distance = first + (a.mantissa >> (23 - depth)), (a.mantissa >> (6 - depth)) & 0x1FFFF
    usual = a.sign | np.minimum(_pack(_sum("tanh", row, distance), -39), 0x3F7FFFFF)
    return a.result(usual, (a.magnitude >= 0x41000000, a.sign | 0x3F800000), (a.exponent < -8, a.pattern))


# ------------------------------------------------------------------------------------ without .ftz
def _times(x: Floats, power: int) -> Floats:
    return x * np.float32(2.0**power)


def _is_tiny(x: Floats) -> np.ndarray:
    return np.abs(x) < np.float32(2.0**-126)


def _with_subnormals(unit: Callable[[Floats], Floats], after: Callable[[Floats], Floats]):
    def function(x: Floats) -> Floats:
        return np.where(_is_tiny(x), after(unit(_times(x, 24))), unit(x))

    return function


def full_rcp(x: Floats) -> Floats:
    usual = np.where(_is_tiny(x), _times(rcp(_times(x, 24)), 24), rcp(x))
    return np.where(np.abs(x) > np.float32(2.0**126), _times(rcp(_times(x, -2)), -2), usual)


def full_ex2(x: Floats) -> Floats:
    half = ex2(_times(x, -1))
    return np.where(x < np.float32(-126), half * half, ex2(x))


def _flushed(x: Floats) -> Floats:
    return np.where(_is_tiny(x), np.copysign(np.float32(0), x), x)


def div_approx(x: Floats, y: Floats) -> Floats:
    tiny = _is_tiny(y)
    return np.where(tiny, _times(x, 24), x) * rcp(np.where(tiny, _times(y, 24), y))


def div_full(x: Floats, y: Floats) -> Floats:
    huge = np.abs(y) > np.float32(2.0**126)
    return div_approx(np.where(huge, _times(x, -2), x), np.where(huge, _times(y, -2), y))


UNIT: dict[str, Callable[[Floats], Floats]] = {
    "rcp.approx.ftz": rcp,
    "rsqrt.approx.ftz": rsqrt,
    "sqrt.approx.ftz": sqrt,
    "ex2.approx.ftz": ex2,
    "lg2.approx.ftz": lg2,
    "sin.approx.ftz": sin,
    "cos.approx.ftz": cos,
    "tanh.approx": tanh,
    "rcp.approx": full_rcp,
    "rsqrt.approx": _with_subnormals(rsqrt, lambda y: _times(y, 12)),
    "sqrt.approx": _with_subnormals(sqrt, lambda y: _times(y, -12)),
    "ex2.approx": full_ex2,
    "lg2.approx": _with_subnormals(lg2, lambda y: y - np.float32(24)),
    "sin.approx": sin,
    "cos.approx": cos,
}
QUOTIENTS = {"div.approx": div_approx, "div.full": div_full}
