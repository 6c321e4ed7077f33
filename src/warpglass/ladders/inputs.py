"""What the inputs of several ladders are made of: integers and floats that overflow, oblong matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .blocks import in_blocks
from .problem import Array


def any_integers(rng: np.random.Generator, shape: int | tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Integers from all that the type has."""
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def uniform(rng: np.random.Generator, n: int, dtype: np.dtype[Any]) -> Array:
    """rng.random(n) as floats of this type, made on all cores: the same numbers."""
    drawn = np.empty(n, dtype)
    generator = rng.bit_generator
    assert isinstance(generator, np.random.PCG64)
    state = generator.state

    def draw(block: slice) -> None:
        own = np.random.PCG64(0)
        own.state = state
        own.advance(block.start)  # one number takes one step
        drawn[block] = np.random.Generator(own).random(block.stop - block.start)

    in_blocks(n, draw)
    generator.advance(n)
    return drawn


def over_binades(rng: np.random.Generator, x: Array) -> Array:
    """Floats of [0, 1) moved to both sides of 0 and spread over 60 binades."""
    return np.ldexp(x - x.dtype.type(0.5), rng.integers(-30, 30, x.shape)).astype(x.dtype)


def columns_of(rows: int) -> int:
    """A number of columns that is not that of the rows, and no multiple of a tile for odd rows."""
    return rows + 3 * (rows // 8)
