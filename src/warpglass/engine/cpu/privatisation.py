"""Sums that each thread of a launch keeps for itself, in memory that the kernel only adds to.

Threads that change the same few elements by atomic instructions take the cache line from each other at each:
a histogram took eleven times as long on two threads as on one. An array that nothing in a kernel accesses but
integer operations of one kind whose results nobody uses (program/privatisation.py) is therefore given to the
first worker alone. The others get memory in its place, at the same address for the kernel, which is combined
with the array when the launch ends. All checks are the same, and so is every bit of the result.

Which array a pointer means is decided as for races (observe/detectors/races/only_read.py): the one that it is
nearest to, since no distance within one leads to another.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...codegen.context import RANGE_WORDS, READ, WRITE
from ...program.facts import Deferrable
from ...program.pointers import HEAP, MODULE, OWN, Base, Word
from ...program.privatisation import Privatisable
from .worker import aligned

# Bytes of all copies of an array up to which they are worth their making; and elements of them for each one
# that a launch changes, of the array for each thread of the kernel: more are seldom contended.
_MOST, _EACH, _MOST_EACH = 1 << 22, 8, 4
# So many bytes from an array a pointer still means it, and up to here an integer is no pointer.
_NEAR = 1 << 31
_WRAPPED = 1 << 64
_ELSEWHERE = frozenset((HEAP, MODULE, OWN))  # bases that lead to no array

# What combines elements, and the bits that change nothing, by PTX's name of an operation.
_COMBINE: Mapping[str, np.ufunc] = {
    "add": np.add,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "and": np.bitwise_and,
    "min": np.minimum,
    "max": np.maximum,
}
_Kind = tuple[str, np.dtype[Any]]
Parameters = tuple[bytes, Mapping[str, int]]  # the parameter block, and where each begins


@dataclass(frozen=True, slots=True)
class PrivateArray:
    """An array that workers may have of their own."""

    row: int  # in the table of ranges
    address: int  # on the host
    size: int  # bytes
    dtype: np.dtype[Any]
    operation: str

    def clear(self, own: np.ndarray[Any, Any]) -> None:
        """Fill a worker's elements with what changes nothing."""
        limits = np.iinfo(self.dtype)
        # All bits of an unsigned type are its maximum.
        own.fill({"and": limits.max, "min": limits.max, "max": limits.min}.get(self.operation, 0))

    def gather(self, own: np.ndarray[Any, Any]) -> None:
        """Combine a worker's elements with the array's."""
        memory = (ctypes.c_uint8 * own.nbytes).from_address(self.address)
        array = np.ctypeslib.as_array(memory).view(self.dtype)
        _COMBINE[self.operation](array, own, out=array)

    def copy(self) -> np.ndarray[Any, Any]:
        """Memory for a worker's elements."""
        size = self.size // self.dtype.itemsize * self.dtype.itemsize
        return aligned(size)[:size].view(self.dtype)


def redirect(
    ranges: Sequence[int], private: Iterable[PrivateArray], own: Iterable[np.ndarray]
) -> Sequence[int]:
    """The table of ranges with a worker's own memory in place of the arrays."""
    words = list(ranges)
    for one, memory in zip(private, own, strict=True):
        words[one.row * RANGE_WORDS + 2] = memory.ctypes.data - words[one.row * RANGE_WORDS]
    return words


@dataclass(frozen=True, slots=True)
class Sharing:
    """How a launch's workers come to the arrays: the kernel's threads, the workers, and how many elements
    earlier launches have changed that workers shared."""

    threads: int
    workers: int
    changes: int

    def worth_copies(self, size: int, itemsize: int) -> bool:
        """Whether an array of so many bytes is to be there for each worker."""
        copies = self.workers - 1
        elements = max(_MOST_EACH * self.threads, _EACH * self.changes // copies)
        return itemsize <= size <= min(_MOST // copies, elements * itemsize)


def choose_private(
    found: Privatisable, ranges: Sequence[int], arrays: range, parameters: Parameters, sharing: Sharing
) -> tuple[tuple[PrivateArray, ...], bool]:
    """The arrays that workers may have of their own in one launch.

    Rows number `arrays` of the table of ranges are arrays. Also returns whether no atomic operation of the
    kernel reaches memory that workers share: then plain ones do.
    """
    table = RangeTable(ranges, parameters)
    kinds: dict[int, set[_Kind]] = {}
    anywhere: set[_Kind] = set()  # of operations that may reach what cannot be said
    for operation, type_, bases in found.operations:
        kind = operation, _dtype(operation, type_)
        rows, known = table.reached(bases)
        for row in rows:
            kinds.setdefault(row, set()).add(kind)
        if not known:
            anywhere.add(kind)
    taken, known = table.reached(found.others)
    if not known:
        return (), False
    private: list[PrivateArray] = []
    for row in sorted((kinds.keys() - taken) & set(arrays)):
        base, size, delta, permissions = ranges[row * RANGE_WORDS :][:RANGE_WORDS]
        if len(kinds[row] | anywhere) > 1 or permissions & (READ | WRITE) != READ | WRITE:
            continue
        (operation, dtype) = min(kinds[row])
        if sharing.worth_copies(size, dtype.itemsize):
            private.append(PrivateArray(row, base + delta, size, dtype, operation))
    named = {base for *_, bases in found.operations for base in bases if not isinstance(base, Word)}
    shared = anywhere or kinds.keys() != {one.row for one in private} or not (found.atomics | named) <= {OWN}
    return tuple(private), not shared


def may_defer(found: Deferrable, ranges: Sequence[int], parameters: Parameters) -> bool:
    """Whether nothing else in a launch reaches the arrays that a kernel's deferrable sums change."""
    table = RangeTable(ranges, parameters)
    (changed, known), (reached, all_known) = table.reached(found.sums), table.reached(found.others)
    named = any(not isinstance(base, Word) for base in found.sums)
    return known and all_known and not named and changed.isdisjoint(reached)


def _dtype(operation: str, type_: str) -> np.dtype[Any]:
    """The type of elements; only for extremes does it matter whether it has a sign."""
    kind = "i" if operation in ("min", "max") and type_[0] == "s" else "u"
    return np.dtype(f"{kind}{int(type_[1:]) // 8}")


class RangeTable:
    """Which rows of the table of ranges the bases of addresses lead to."""

    def __init__(self, ranges: Sequence[int], parameters: Parameters):
        starts, sizes = ranges[::RANGE_WORDS], ranges[1::RANGE_WORDS]
        ends = [start + size for start, size in zip(starts, sizes, strict=True)]
        self._rows = list(zip(starts, ends, range(len(ends)), strict=True))
        self._parameters = parameters

    def reached(self, bases: Iterable[Base]) -> tuple[set[int], bool]:
        """The rows that addresses with some bases may be in; whether they cannot be in others."""
        rows: set[int] = set()
        known = True
        for base in bases:
            if isinstance(base, Word):
                known &= self._add(self._value(base), rows)
            else:
                known &= base in _ELSEWHERE
        return rows, known

    def _value(self, word: Word) -> int:
        block, offsets = self._parameters
        start = offsets[word.parameter] + word.offset
        return int.from_bytes(block[start : start + 8], "little")

    def _add(self, value: int, rows: set[int]) -> bool:
        """Note the row that a word of a parameter points to, if any; whether that could be said."""
        near = [row for start, end, row in self._rows if start - _NEAR <= value < end + _NEAR]
        rows.update(near)
        return bool(near) or value < _NEAR or value >= _WRAPPED - _NEAR
