"""The device address space of a launch: where each allocation lies, and what an address means.

Allocations get deterministic bases, 512-byte aligned as cudaMalloc gives them and a guard gap apart, in the
order of the arguments; so addresses, and all that is counted from them, do not depend on where NumPy put a
buffer. Generated code searches the same table (codegen/runtime.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..codegen.context import GENERIC_ONLY, GLOBAL_BASE, RANGE_WORDS, READ, SHARED_WINDOW, WRITE
from .arguments import Allocation, Bound

_ALIGN = 512
# Far enough apart that an index which is off by a whole array is still attributed to that array.
_GUARD = 1 << 21


@dataclass(frozen=True, slots=True)
class Placed:
    """An allocation with its device base address."""

    allocation: Allocation
    base: int

    @property
    def end(self) -> int:
        """One past the last byte."""
        return self.base + self.allocation.nbytes


def place(allocations: tuple[Allocation, ...]) -> tuple[Placed, ...]:
    """Give every allocation its base address."""
    placed: list[Placed] = []
    base = GLOBAL_BASE
    for allocation in allocations:
        placed.append(Placed(allocation, base))
        guard = max(_GUARD, allocation.nbytes)
        base += -(-(allocation.nbytes + guard) // _ALIGN) * _ALIGN
    return tuple(placed)


def range_table(placed: tuple[Placed, ...], shared_address: int, shared_size: int) -> np.ndarray:
    """The table that generated code searches: base, size, distance to host memory and permissions, by base."""
    table = np.zeros((len(placed) + 1, RANGE_WORDS), np.int64)
    table[0] = SHARED_WINDOW, shared_size, shared_address - SHARED_WINDOW, READ | WRITE | GENERIC_ONLY
    for row, one in zip(table[1:], placed, strict=True):
        allocation = one.allocation
        permissions = READ if allocation.readonly else READ | WRITE
        row[:] = one.base, allocation.nbytes, allocation.address - one.base, permissions
    return table


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an address stands for in the kernel author's terms.

    `array` and `index` name the element that the address is in or, outside of any array, how far it is from
    the first element of the nearest one; `inside` says which of the two.
    """

    array: str | None
    index: int | None
    elements: int | None
    inside: bool
    readonly: bool = False


def explain_address(address: int, bound: Bound, placed: tuple[Placed, ...]) -> Meaning:
    """Find the array that an address belongs to or was meant for."""
    if not bound.arrays:
        return Meaning(None, None, None, inside=False)

    def distance(array_number: int) -> tuple[int, int]:
        array = bound.arrays[array_number]
        view = array.view
        home = placed[array.allocation].base
        low = home + array.offset + view.low - view.address
        high = low + max(array.nbytes, 1)
        away = low - address if address < low else max(0, address - high + 1)
        return away, array_number

    away, number = min(distance(k) for k in range(len(bound.arrays)))
    array = bound.arrays[number]
    first = placed[array.allocation].base + array.offset
    size = array.view.itemsize
    readonly = placed[array.allocation].allocation.readonly
    return Meaning(array.name, (address - first) // size, array.view.size, away == 0, readonly)
