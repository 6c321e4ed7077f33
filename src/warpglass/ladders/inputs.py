"""What the inputs of several ladders are made of: integers and floats that overflow, oblong matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .problem import Array


def any_integers(rng: np.random.Generator, shape: int | tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Integers from all that the type has."""
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def over_binades(rng: np.random.Generator, x: Array) -> Array:
    """Floats of [0, 1) moved to both sides of 0 and spread over 60 binades."""
    return np.ldexp(x - x.dtype.type(0.5), rng.integers(-30, 30, x.shape)).astype(x.dtype)


def columns_of(rows: int) -> int:
    """A number of columns that is not that of the rows, and no multiple of a tile for odd rows."""
    return rows + 3 * (rows // 8)
