"""Matrices between memory and registers: wmma.load, wmma.store, ldmatrix, stmatrix, movmatrix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeVar

from .lanes import Lanes
from .matrix_layouts import LANES, Entry, Layout, turned
from .table import AccessKind, Match, Meaning, add_row, row

V = TypeVar("V")

_SPACES = "global shared shared::cta"
_EVERY = range(LANES)


# ---------------------------------------------------------------------------------------- whole matrices
@cache
def _plan(layout: Layout, by_row: bool) -> tuple[Layout, int]:
    """The layout in which memory is accessed, and how many elements of a lane at once.

    As ptxas does it: a register, or two neighbours in registers of their own; halves that do not lie
    together are turned by movmatrix.
    """
    per = max(2, 32 // layout.bits)
    step = (0, 1) if by_row else (1, 0)
    together = all(
        (right[0] - left[0], right[1] - left[1]) == step
        for e in range(layout.elements)
        if (e + 1) % per
        for left, right in zip(layout.places[e], layout.places[(e + 1) % layout.elements], strict=True)
    )
    if not together and layout.bits == 16:
        return turned(layout), 2
    return layout, per if together else 1


def _address(lanes: Lanes[V], layout: Layout, element: int, by_row: bool, base: V, stride: V) -> V:
    """Where each lane's element lies in memory."""
    lines, within = zip(*(place if by_row else place[::-1] for place in layout.places[element]), strict=True)
    start = lanes.mul(lanes.lane_constants("i64", lines), stride)
    offset = lanes.add(start, lanes.lane_constants("i64", within))
    if layout.bits < 8:
        distance = lanes.apply("lshr", offset, lanes.constant("i64", (8 // layout.bits).bit_length() - 1))
    else:
        distance = lanes.mul(offset, lanes.constant("i64", layout.bits // 8))
    return lanes.add(base, distance)


def _stride(lanes: Lanes[V], layout: Layout, by_row: bool, given: V | None) -> V:
    """Elements from row to row or column to column; if none is given, those of the matrix follow closely."""
    if given is not None:
        return lanes.extend(given, "i64", signed=False)
    return lanes.constant("i64", 1 + max(place[by_row] for place in layout.where))


def add_load(notation: str, layout: Layout, types: str) -> None:
    """A row that loads a matrix as `.layout` says."""

    def meaning(lanes: Lanes[V], m: Match, a: V, given: V | None = None) -> tuple[V, ...]:
        by_row = m.layout == "row"
        stride = _stride(lanes, layout, by_row, given)
        used, size = _plan(layout, by_row)
        loaded: dict[tuple[Entry, ...], tuple[V, ...]] = {}
        parts: list[V] = []
        for first in range(0, used.elements, size):
            places = used.places[first]
            if places not in loaded:
                type_, count = _access(layout, size)
                address = _address(lanes, used, first, by_row, a, stride)
                loaded[places] = lanes.load(m.state_space, address, type_, count, volatile=False)
            parts += loaded[places]
        per = len(parts) // layout.registers
        if per > 1:
            return tuple(lanes.join(parts[k : k + per]) for k in range(0, len(parts), per))
        return tuple(parts if used is layout else (_transpose(lanes, word) for word in parts))

    operands = f"d*{layout.registers}:{_register(layout)}, [a], {{c:b32}}"
    _add(f"{notation}  {operands}", meaning, "fragment load", types)


def add_store(notation: str, layout: Layout, types: str) -> None:
    """A row that stores a matrix as `.layout` says."""

    def meaning(lanes: Lanes[V], m: Match, a: V, b: Sequence[V], given: V | None = None) -> None:
        by_row = m.layout == "row"
        stride = _stride(lanes, layout, by_row, given)
        used, size = _plan(layout, by_row)
        words = b if used is layout else [_transpose(lanes, word) for word in b]
        _, count = _access(layout, size)
        for k, first in enumerate(range(0, used.elements, size)):
            address = _address(lanes, used, first, by_row, a, stride)
            values = tuple(words[k * count : (k + 1) * count])
            lanes.store(m.state_space, address, values, volatile=False)

    operands = f"[a], b*{layout.registers}:{_register(layout)}, {{c:b32}}"
    _add(f"{notation}  {operands}", meaning, "fragment store", types)


def _access(layout: Layout, size: int) -> tuple[str, int]:
    """Type and number of what is accessed at once for so many elements."""
    if layout.bits == 64:
        return "double", size
    width = min(32, layout.bits * size)
    return f"i{width}", layout.bits * size // width


def _add(notation: str, meaning: Meaning, access: AccessKind, types: str) -> None:
    choices = {"layout": "row col", "space": _SPACES, "type": types}
    add_row(notation, unit="memory", meaning=meaning, access=access, **choices)


def _register(layout: Layout) -> str:
    return "f64" if layout.bits == 64 else "b32"


# ---------------------------------------------------------------------------------------- 8 by 8 halves
# Lane 8i+r names row r of matrix i, 16 bytes; lane 4r+t then holds halves 2t and 2t+1 of row r.
def _ldmatrix(count: int) -> Meaning:
    def meaning(lanes: Lanes[V], m: Match, a: V) -> tuple[V, ...]:
        # Lanes whose address is not asked for take part with another's.
        rows = lanes.permute(a, tuple(lane % (8 * count) for lane in _EVERY))
        words = lanes.load(m.state_space, rows, "i32", 4, volatile=False)
        return tuple(_spread(lanes, words, 8 * k, m.trans is not None) for k in range(count))

    return meaning


def _spread(lanes: Lanes[V], words: Sequence[V], first: int, transposed: bool) -> V:
    """A matrix's register from its rows, which lanes `first` and following hold whole."""
    if not transposed:
        moved = [lanes.permute(word, tuple(first + lane // 4 for lane in _EVERY)) for word in words]
        return _choose(lanes, moved, tuple(lane % 4 for lane in _EVERY))
    halves: list[V] = []
    for half in range(2):
        source = tuple(first + lane % 4 * 2 + half for lane in _EVERY)
        moved = [lanes.permute(word, source) for word in words]
        halves.append(_half(lanes, _choose(lanes, moved, tuple(lane // 8 for lane in _EVERY))))
    return lanes.join(halves)


def _half(lanes: Lanes[V], word: V) -> V:
    """Of the lane's word the half that its column has: the upper one for odd columns."""
    low, high = lanes.split(word, 2)
    odd = lanes.lane_constants("i1", tuple(lane // 4 % 2 for lane in _EVERY))
    return lanes.select(odd, high, low)


def _choose(lanes: Lanes[V], values: Sequence[V], which: tuple[int, ...]) -> V:
    """For each lane the value that it names."""
    chosen = values[0]
    for k in range(1, len(values)):
        mine = lanes.lane_constants("i1", tuple(int(number == k) for number in which))
        chosen = lanes.select(mine, values[k], chosen)
    return chosen


def _transpose(lanes: Lanes[V], a: V) -> V:
    """A matrix in registers with rows and columns exchanged."""
    halves = [
        _half(lanes, lanes.permute(a, tuple((lane % 4 * 2 + half) * 4 + lane // 8 for lane in _EVERY)))
        for half in range(2)
    ]
    return lanes.join(halves)


@row("movmatrix.sync.aligned.m8n8.trans.b16  d:b32, a:b32", unit="inter_thread_communication")
def movmatrix(lanes: Lanes[V], m: Match, a: V) -> V:
    return _transpose(lanes, a)


def _stmatrix(count: int) -> Meaning:
    def meaning(lanes: Lanes[V], m: Match, a: V, b: Sequence[V]) -> None:
        registers = [_transpose(lanes, word) if m.trans else word for word in b]
        words: list[V] = []
        for k in range(4):
            moved = [lanes.permute(word, tuple(lane % 8 * 4 + k for lane in _EVERY)) for word in registers]
            words.append(_choose(lanes, moved, tuple(lane // 8 for lane in _EVERY)))
        with lanes.only(lanes.lane_constants("i1", tuple(int(lane < 8 * count) for lane in _EVERY))):
            lanes.store(m.state_space, a, tuple(words), volatile=False)

    return meaning


for _count in (1, 2, 4):
    add_row(
        f"ldmatrix.sync.aligned.m8n8.x{_count}{{.trans}}{{.space}}.b16  d*{_count}:b32, [a]",
        unit="memory",
        meaning=_ldmatrix(_count),
        access="matrix load",
        space="shared shared::cta",
    )
    add_row(
        f"stmatrix.sync.aligned.m8n8.x{_count}{{.trans}}{{.space}}.b16  [a], b*{_count}:b32",
        unit="memory",
        meaning=_stmatrix(_count),
        access="matrix store",
        space="shared shared::cta",
    )
