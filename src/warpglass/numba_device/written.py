"""Which bytes of the device's memory somebody has written, for the checker.

New memory is filled with a pattern, so that what a program makes of it does not depend on the host's heap
(memory.py leaves large allocations to the system, which gives zeros; unwatched programs of C++ have zeros
everywhere). Copies and fills of the driver define
bytes as they are called; what kernels write, the checker tells after each launch. Memory that the host
reaches at the same address is written without a call: of it, what is not the pattern any more was written.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

# A NaN in 32 and in 64 bits, a negative number in integers of all sizes; no two neighbouring bytes are zero.
POISON = 0xFFF5A5A5
_WORD = 4
_SLACK = 64  # bytes of bits that there are beyond the last, for the checker's last line


def fill_with_poison(host: int, size: int) -> None:
    """Put the pattern into new memory, from an aligned address on."""
    whole = size // _WORD
    _view(host, whole * _WORD).view(np.uint32)[:] = POISON
    _view(host + whole * _WORD, size % _WORD)[:] = np.array([POISON], "<u4").view(np.uint8)[: size % _WORD]


def _view(host: int, size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    memory: Any = (ctypes.c_uint8 * size).from_address(host)
    return np.frombuffer(memory, np.uint8)


class Written:
    """A bit for each byte of one allocation: 1 if it was written. `shared` memory is the host's as well."""

    def __init__(self, host: int, size: int, *, shared: bool):
        self._host, self._size, self._shared = host, size, shared
        self._bits = np.zeros(size // 8 + _SLACK, np.uint8)

    @property
    def bits(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The bits, of each byte's the lowest first."""
        if self._shared:
            words = _view(self._host, self._size // _WORD * _WORD).view(np.uint32)
            more = np.packbits(np.repeat(words != POISON, _WORD), bitorder="little")
            self._bits[: more.size] |= more
        return self._bits

    @property
    def complete(self) -> bool:
        """Whether all bytes were written."""
        bits, whole = self.bits, self._size // 8
        rest = (1 << self._size % 8) - 1
        if bits[whole] & rest != rest or (whole and bits[whole - 1] != 255):
            return False
        return bool(np.all(bits[:whole] == 255))

    def define(self, offset: int, count: int) -> None:
        """These bytes are written."""
        end = offset + count
        first, last = -(-offset // 8), end // 8  # the bits' bytes that are whole
        if first < last:
            self._bits[first:last] = 255
            self.set(offset, np.ones(8 * first - offset, bool))
            self.set(8 * last, np.ones(end - 8 * last, bool))
        else:
            self.set(offset, np.ones(count, bool))

    def at(self, offset: int, count: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which of some bytes were written."""
        first, last = offset // 8, -(-(offset + count) // 8)
        found = np.unpackbits(self.bits[first:last], bitorder="little").astype(bool)
        return found[offset % 8 : offset % 8 + count]

    def set(self, offset: int, written: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        """Some bytes become what others were: written, or not."""
        first, last = offset // 8, -(-(offset + written.size) // 8)
        bits = np.unpackbits(self._bits[first:last], bitorder="little")
        bits[offset % 8 : offset % 8 + written.size] = written
        self._bits[first:last] = np.packbits(bits, bitorder="little")

    def add_lines(self, numbers: np.ndarray[Any, Any], rows: np.ndarray[Any, Any]) -> None:
        """Of some lines, each of 8 times the bytes of a row, what their rows say is written as well."""
        width = rows.shape[1]
        lines = self._bits[: self._bits.size // width * width].reshape(-1, width)
        lines[numbers] |= rows
