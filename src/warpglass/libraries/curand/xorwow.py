"""XORWOW (Marsaglia 2003) as cuRAND orders it: 4096 subsequences, 2**67 numbers apart, that take turns.

A step is linear over bits but for the counter that is added, so a matrix of 160 x 160 bits leads any distance
ahead; cuRAND's documentation has constants and order (host API, "Generator Options").
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..memory import Array

_WORDS, _BITS = 5, 160
_SUBSEQUENCES, _DISTANCE = 4096, 67  # as a power of two
_COUNT = np.uint32(362437)


def _bits(state: Array) -> Array:
    """Words by subsequence as bits by subsequence, one as a float each: 0 or 1."""
    return np.unpackbits(np.ascontiguousarray(state.T).view(np.uint8), axis=1, bitorder="little").T.astype(
        "f4"
    )


def _words(bits: Array) -> Array:
    packed = np.packbits(np.ascontiguousarray(bits.T).astype(np.uint8), axis=1, bitorder="little")
    return np.ascontiguousarray(np.ascontiguousarray(packed).view("u4").T)


def _times(left: Array, right: Array) -> Array:
    return np.mod(left @ right, 2)


def _turn(state: Array) -> None:
    """One step of every subsequence, in place, without the counter."""
    t = state[0] ^ (state[0] >> np.uint32(2))
    state[:-1] = state[1:].copy()
    last = state[-1]
    last ^= (last << np.uint32(4)) ^ t ^ (t << np.uint32(1))


@cache
def _ahead(power: int) -> Array:
    """The matrix that leads 2**power steps ahead."""
    if power == 0:
        unit = _words(np.eye(_BITS, dtype="f4"))
        _turn(unit)
        return _bits(unit)
    half = _ahead(power - 1)
    return _times(half, half)


@cache
def _apart() -> tuple[Array, ...]:
    """The matrices that lead 1, 2, 4, ... subsequences ahead."""
    return tuple(_ahead(_DISTANCE + power) for power in range(_SUBSEQUENCES.bit_length() - 1))


def _first(seed: int) -> tuple[Array, int]:
    """The state of the first subsequence, and the counter."""
    low, high = (seed & 0xFFFFFFFF) ^ 0xAAD26B49, (seed >> 32 & 0xFFFFFFFF) ^ 0xF7DCEFDD
    t0, t1 = 1099087573 * low & 0xFFFFFFFF, 2591861531 * high & 0xFFFFFFFF
    words = (123456789 + t0, 362436069 ^ t0, 521288629 + t1, 88675123 ^ t1, 5783321 + t0)
    return np.array([word & 0xFFFFFFFF for word in words], "u4")[:, None], 6615241 + t1 + t0 & 0xFFFFFFFF


class Xorwow:
    """The numbers of one seed in order."""

    def __init__(self, seed: int):
        first, count = _first(seed)
        bits = _bits(first)
        for matrix in _apart():
            bits = np.concatenate([bits, _times(matrix, bits)], axis=1)
        self._state = _words(bits)
        self._counter = np.full(1, count, "u4")
        self._left = np.zeros(0, "u4")

    def words(self, count: int) -> Array:
        """The next 32-bit numbers."""
        rows = -(-max(0, count - len(self._left)) // _SUBSEQUENCES)
        parts = [self._left]
        for _ in range(rows):
            _turn(self._state)
            self._counter += _COUNT
            parts.append(self._state[-1] + self._counter)
        found = np.concatenate(parts)
        self._left = found[count:]
        return found[:count]

    def skip(self, count: int) -> None:
        """Leave out numbers."""
        rows, rest = divmod(count, _SUBSEQUENCES)
        bits = _bits(self._state)
        for power in range(rows.bit_length()):
            if rows >> power & 1:
                bits = _times(_ahead(power), bits)
        self._state = _words(bits)
        self._counter += np.uint32(rows * int(_COUNT) & 0xFFFFFFFF)
        self.words(rest)
