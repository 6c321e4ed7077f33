"""Zeroed memory of which only what is touched costs anything.

What the C library hands out again it has to clear, all of it, before anybody uses it; pages that the
operating system maps are empty, and are made when they are touched, by the thread that does. To look at them
makes them, too, which takes microseconds on some virtual machines; so Linux is asked which there are.
"""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from functools import cache
from math import prod
from typing import Any

import numpy as np

_CHUNK = 1 << 23  # bytes that are mapped at once, at least; twice as many each time
# Bytes of a word; words of a line of the processor's caches, and of a page.
_WORD, _LINE, PAGE = 8, 8, 512
_IN_USE = np.uint64(62)  # what Linux says of a page: from this bit on, that it is in memory, or was put out


def aligned(start: int, words: int) -> int:
    """Where so many words may begin, from a place on: what is large begins a page."""
    align = PAGE if words >= PAGE else _LINE
    return -(-start // align) * align


def used_pages(words: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A byte for each page of an array that begins one: 0 where nobody has ever touched it."""
    size = mmap.PAGESIZE
    count = -(-words.nbytes // size)
    if (table := _page_table()) is not None and size == _WORD * PAGE:
        said = os.pread(table, _WORD * count, _WORD * (words.ctypes.data // size))
        if len(said) == _WORD * count:
            return (np.frombuffer(said, np.uint64) >> _IN_USE != 0).astype(np.uint8)
    return np.ones(-(-words.size // PAGE), np.uint8)


@cache
def _page_table() -> int | None:
    with suppress(OSError):
        return os.open("/proc/self/pagemap", os.O_RDONLY | os.O_CLOEXEC)
    return None


if hasattr(os, "register_at_fork"):  # what is open is the table of the process that opened it
    os.register_at_fork(after_in_child=_page_table.cache_clear)


class Arena:
    """Hands out arrays; their memory is mapped as long as one of them is alive."""

    def __init__(self) -> None:
        self._chunk = np.empty(0, np.int64)
        self._used = 0
        self._next = _CHUNK

    def zeros(self, shape: int | tuple[int, ...], dtype: Any = np.int64) -> np.ndarray[Any, Any]:
        """An array of zeros."""
        kind = np.dtype(dtype)
        size = kind.itemsize * (shape if isinstance(shape, int) else prod(shape))
        words = -(-size // _WORD)
        start = aligned(self._used, words)
        if start + words > self._chunk.size:
            whole = max(self._next, _WORD * aligned(words, PAGE))
            self._chunk = np.frombuffer(mmap.mmap(-1, whole), np.int64)
            self._next = 2 * whole
            start = 0
        self._used = start + words
        found = self._chunk[start : self._used]
        if kind.itemsize != _WORD:
            found = found.view(kind)[: size // kind.itemsize]
        return found if isinstance(shape, int) else found.reshape(shape)
