"""8-bit floating-point numbers: E4M3 (no infinities, up to 448) and E5M2, by tables of their values.

Too large results become the largest finite number, as NVIDIA's libraries store them.
"""

from __future__ import annotations

import numpy as np

from ..memory import Array

E4M3, E5M2 = 28, 29  # of cudaDataType_t
_NAN = 0x7F


def _finite(mantissa: int, bias: int, count: int) -> Array:
    """The numbers of codes 0 to count - 1, which grow: subnormal ones first."""
    codes = np.arange(count)
    exponents, fractions = codes >> mantissa, (codes & (1 << mantissa) - 1) / (1 << mantissa)
    return np.where(exponents, (1 + fractions) * 2.0 ** (exponents - bias), fractions * 2.0 ** (1 - bias))


_FINITE = {E4M3: _finite(3, 7, 127), E5M2: _finite(2, 15, 124)}
_SPECIAL = {E4M3: [np.nan], E5M2: [np.inf, np.nan, np.nan, np.nan]}


def decode(codes: Array, kind: int) -> Array:
    """The numbers of codes (uint8), in single precision."""
    table = np.concatenate([_FINITE[kind], _SPECIAL[kind]]).astype("f4")
    return np.concatenate([table, -table])[codes]


def encode(values: Array, kind: int) -> Array:
    """The codes (uint8) of numbers, rounded to nearest, ties to even."""
    table, sizes = _FINITE[kind], np.abs(values)
    above = np.clip(np.searchsorted(table, sizes), 1, len(table) - 1)
    up, down = sizes - table[above - 1], table[above] - sizes
    codes = np.where((up > down) | ((up == down) & (above % 2 == 0)), above, above - 1)
    codes = np.where(np.isnan(values), _NAN, codes)
    return (codes | np.signbit(values) << 7).astype("u1")
