"""Where the elements of a matrix lie in the registers of a warp (PTX manual, "Matrix Fragments for mma").

Belongs here: the places of elements, for every shape and type of mma and wmma. A lane's elements are
numbered through its registers, lowest bits first. Sixteen rows of A, eight columns of B and their product are
one tile; larger shapes are several, side by side.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

LANES = 32

Entry = tuple[int, int]  # row and column


@dataclass(frozen=True)
class Layout:
    """A matrix in registers: `place(e, lane)` is the place of a lane's element e, of `bits` bits."""

    bits: int
    elements: int  # of a lane
    place: Callable[[int, int], Entry]

    @property
    def registers(self) -> int:
        """Registers a lane: of 64 bits for double precision, else of 32."""
        return self.elements * self.bits // register_bits(self.bits)

    @cached_property
    def places(self) -> tuple[tuple[Entry, ...], ...]:
        """The place of every element and lane."""
        return tuple(tuple(self.place(e, lane) for lane in range(LANES)) for e in range(self.elements))

    @cached_property
    def where(self) -> dict[Entry, tuple[int, int]]:
        """Element and lane that hold a place; the first of several."""
        found: dict[Entry, tuple[int, int]] = {}
        for e, row in enumerate(self.places):
            for lane, place in enumerate(row):
                found.setdefault(place, (e, lane))
        return found


def register_bits(bits: int) -> int:
    """The width of the registers that hold elements of so many bits."""
    return max(32, bits)


def dimensions(shape: str) -> tuple[int, int, int]:
    """Rows of A, columns of B, and what they have in common, of a shape: `m16n8k16`."""
    m, n, k = re.findall(r"\d+", shape)
    return int(m), int(n), int(k)


@cache
def fragment(operand: str, shape: str, bits: int) -> Layout:
    """The layout of operand "a", "b" or "c" (and d) of a shape, its elements so many bits wide."""
    m, n, k = dimensions(shape)
    if m == 8 and n == 32:  # the product transposed: B takes the part of A
        return _transposed(fragment({"a": "b", "b": "a"}.get(operand, "c"), f"m32n8k{k}", bits))
    return {"a": _left, "b": _right, "c": _product}[operand](m, n, k, bits)


def repeated(layout: Layout, registers: int) -> Layout:
    """The same elements again until so many registers are full."""
    count = layout.elements * registers // layout.registers
    return Layout(layout.bits, count, lambda e, lane: layout.place(e % layout.elements, lane))


def turned(layout: Layout) -> Layout:
    """A layout of halves whose 8 by 8 blocks are exchanged with their transposes, as movmatrix does it."""

    def place(e: int, lane: int) -> Entry:
        first, part = e // 2 * 2, e % 2
        row, column = lane // 4, lane % 4 * 2 + part
        return layout.place(first + row % 2, 4 * column + row // 2)

    return Layout(layout.bits, layout.elements, place)


def _transposed(layout: Layout) -> Layout:
    def place(e: int, lane: int) -> Entry:
        row, column = layout.place(e, lane)
        return column, row

    return Layout(layout.bits, layout.elements, place)


def _left(m: int, n: int, k: int, bits: int) -> Layout:
    """A: lane 4g+t holds row g, in neighbouring columns; then rows 8 below, columns further right, tiles."""
    per = register_bits(bits) // bits
    high = min(m, 16) // 8  # registers above each other
    tile = min(m, 16) * k // LANES

    def place(e: int, lane: int) -> Entry:
        block, inside = divmod(e, tile)
        register, part = divmod(inside, per)
        right, below = divmod(register, high)
        return 16 * block + 8 * below + lane // 4, 4 * per * right + lane % 4 * per + part

    return Layout(bits, m * k // LANES, place)


def _right(m: int, n: int, k: int, bits: int) -> Layout:
    """B: lane 4g+t holds column g, in neighbouring rows; then rows further down, tiles."""
    per = register_bits(bits) // bits
    tile = 8 * k // LANES

    def place(e: int, lane: int) -> Entry:
        block, inside = divmod(e, tile)
        register, part = divmod(inside, per)
        return 4 * per * register + lane % 4 * per + part, 8 * block + lane // 4

    return Layout(bits, n * k // LANES, place)


def _product(m: int, n: int, k: int, bits: int) -> Layout:
    """C and D: lane 4g+t holds two neighbours of row g; then rows 8 below, tiles to the right, then below."""

    def place(e: int, lane: int) -> Entry:
        pair, part = divmod(e, 2)
        pair, below = divmod(pair, min(m, 16) // 8)
        down, right = divmod(pair, n // 8)
        return 16 * down + 8 * below + lane // 4, 8 * right + lane % 4 * 2 + part

    return Layout(bits, m * n // LANES, place)


# ---------------------------------------------------------------------------------------- m8n8k4 of halves
# Four products at once: lanes 4q to 4q+3 and 16 more than these hold the octet q. Here they are blocks of
# one product of 32 rows and columns, of which only those on the diagonal are wanted.
def _octet(lane: int) -> tuple[int, int]:
    """Where a lane's octet begins, and which of its two quads the lane belongs to."""
    return lane % 16 // 4 * 8, lane // 16


def octet_left(by_row: bool) -> Layout:
    """A of m8n8k4, a row of four or a column of four in each lane."""

    def place(e: int, lane: int) -> Entry:
        first, quad = _octet(lane)
        row, column = (lane % 4, e) if by_row else (e, lane % 4)
        return first + 4 * quad + row, column

    return Layout(16, 4, place)


def octet_right(by_row: bool) -> Layout:
    """B of m8n8k4."""
    return _transposed(octet_left(not by_row))


def octet_product(bits: int) -> Layout:
    """C and D of m8n8k4: halves by rows, singles by pairs of neighbours."""

    def halves(e: int, lane: int) -> Entry:
        first, quad = _octet(lane)
        return first + 4 * quad + lane % 4, first + e

    def singles(e: int, lane: int) -> Entry:
        first, quad = _octet(lane)
        return first + 4 * quad + (lane & 1) + (e & 2), first + (e & 4) + (lane & 2) + (e & 1)

    return Layout(bits, 8, halves if bits == 16 else singles)
