"""Zeroed memory of which only what is touched costs anything.

What the C library hands out again it has to clear, all of it, before anybody uses it; pages that the
operating system maps are empty, and are made when they are touched, by the thread that does.
"""

from __future__ import annotations

import mmap
from math import prod
from typing import Any

import numpy as np

_CHUNK = 1 << 23  # bytes that are mapped at once, at least; twice as many each time
_ALIGN, _PAGE = 64, 4096


class Arena:
    """Hands out arrays; their memory is mapped as long as one of them is alive."""

    def __init__(self) -> None:
        self._chunk = np.empty(0, np.uint8)
        self._used = 0
        self._next = _CHUNK

    def zeros(self, shape: int | tuple[int, ...], dtype: Any = np.int64) -> np.ndarray[Any, Any]:
        """An array of zeros; a large one begins a page."""
        kind = np.dtype(dtype)
        count = shape if isinstance(shape, int) else prod(shape)
        size = count * kind.itemsize
        align = _PAGE if size >= _PAGE else _ALIGN
        start = -(-self._used // align) * align
        if start + size > self._chunk.size:
            self._map(size)
            start = 0
        self._used = start + size
        return self._chunk[start : start + size].view(kind).reshape(shape)

    def _map(self, size: int) -> None:
        whole = max(self._next, -(-size // _PAGE) * _PAGE)
        self._chunk = np.frombuffer(mmap.mmap(-1, whole), np.uint8)
        self._next = 2 * whole
