"""Sequences of 32-bit numbers: what stands for each of cuRAND's generators."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..frame import Failed, Session
from ..lapack import scipy
from ..memory import Array
from .library import OUT_OF_RANGE, TYPE_ERROR
from .xorwow import Xorwow

PSEUDO = {100: 101, 101: 101, 121: 121, 141: 141, 142: 142, 161: 161}  # curandRngType_t; 100 is the default
QUASI = {200: 32, 201: 32, 202: 32, 203: 64, 204: 64}  # bits; 202 and 204 are scrambled
XORWOW = 101


class Stream(Protocol):
    """Numbers in order."""

    def words(self, count: int) -> Array:
        """The next 32-bit numbers."""
        ...

    def skip(self, count: int) -> None:
        """Leave out numbers."""
        ...


class Numpy:
    """A stream of NumPy's PCG64: of the same quality, not the same numbers."""

    def __init__(self, kind: int, seed: int):
        self._bits = np.random.PCG64(np.random.SeedSequence([kind, seed]))

    def words(self, count: int) -> Array:
        """The next 32-bit numbers: the upper halves, so that each takes one step."""
        return (self._bits.random_raw(count) >> np.uint64(32)).astype("u4")

    def skip(self, count: int) -> None:
        """Leave out numbers."""
        self._bits.advance(count)


class Sobol:
    """A Sobol sequence of several dimensions; `words` has all of one dimension before the next."""

    def __init__(self, s: Session, kind: int, dimensions: int, offset: int):
        if not 1 <= dimensions <= 20000:
            raise Failed(OUT_OF_RANGE, f"{dimensions} dimensions; there may be 1 to 20000")
        self.dimensions = dimensions
        self._engine = scipy(s, "stats").qmc.Sobol(dimensions, scramble=kind in (202, 204), bits=32, rng=1)
        if offset:
            self._engine.fast_forward(offset)

    def words(self, count: int) -> Array:
        """Numbers of all dimensions, `count` in all."""
        if count % self.dimensions:
            raise Failed(105, f"{count} numbers are no multiple of {self.dimensions} dimensions")
        points = self._engine.random(count // self.dimensions)
        return (points.T.ravel() * 2.0**32).astype("u8").clip(0, 2**32 - 1).astype("u4")


def direction_vectors(s: Session, bits: int) -> Array:
    """The direction numbers of Joe and Kuo: a row of `bits` of them for each of 20000 dimensions."""
    engine: Any = scipy(s, "stats").qmc.Sobol(20000, scramble=False, bits=bits)
    return np.ascontiguousarray(engine._sv, f"u{bits // 8}")


def pseudo(kind: int, seed: int) -> Stream:
    """The stream of a generator and a seed; raises Failed for kinds that there are not."""
    if kind not in PSEUDO:
        raise Failed(TYPE_ERROR, f"there is no generator {kind}")
    return Xorwow(seed) if PSEUDO[kind] == XORWOW else Numpy(PSEUDO[kind], seed)
