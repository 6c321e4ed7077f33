"""Lanes' accesses that lie in a few segments far apart, as the rows of a tile do: one access for each.

Belongs here: which static patterns are such, and the loads and stores for them. All offsets are in
elements from the pattern's lowest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...isa.types import BITS
from ..builder import Builder, constant_vector, vector
from ..machine.target import vector_bytes

# Segments of one pattern up to which they beat a gather, elements of one, and elements between two of them.
_MOST, _WIDEST, _GAP = 8, 32, 8


@dataclass(frozen=True, slots=True)
class Segment:
    """Neighbouring elements: the first one, how many a vector of them holds, and which of those are meant."""

    start: int
    width: int
    present: frozenset[int]

    @property
    def full(self) -> bool:
        """Whether the whole vector is meant."""
        return len(self.present) == self.width


def find_segments(elements: Sequence[int], each: int = 0) -> list[Segment] | None:
    """The segments of the elements that a pattern has; None if they are too many or too wide.

    If `each` elements fill a register, rows that lie close together, as those of a tile with a border, have
    one apiece where that takes fewer registers.
    """
    found: list[Segment] = []
    for group in _runs(sorted(set(elements)), _GAP):
        whole, rows = [_segment(group)], [_segment(run) for run in _runs(group, 1)]
        found += rows if each and _registers(rows, each) < _registers(whole, each) else whole
    return found if len(found) <= _MOST and all(one.width <= _WIDEST for one in found) else None


def _runs(elements: Sequence[int], gap: int) -> list[list[int]]:
    """Ascending elements, apart where they are further from each other than a gap."""
    runs: list[list[int]] = []
    for element in elements:
        if runs and element - runs[-1][-1] <= gap:
            runs[-1].append(element)
        else:
            runs.append([element])
    return runs


def _segment(run: Sequence[int]) -> Segment:
    width = 1 << (run[-1] - run[0]).bit_length()
    return Segment(run[0], width, frozenset(element - run[0] for element in run))


def _registers(segments: Sequence[Segment], each: int) -> int:
    """How many registers segments take, each so many elements."""
    return sum(-(-one.width // each) for one in segments)


def worth_it(segments: Sequence[Segment], type_: str, span: int, most: int) -> bool:
    """Whether segments take fewer registers than one access of their whole span, of up to `most` elements."""
    each, whole = elements_of_a_register(type_), 1 << (span - 1).bit_length()
    return span > most or _registers(segments, each) < -(-whole // each)


def elements_of_a_register(type_: str) -> int:
    """How many elements of a type the processor's widest register holds."""
    return 8 * vector_bytes() // BITS[type_]


def find_singles(vectors: Sequence[Sequence[int]]) -> list[list[Segment]] | None:
    """The segments of each of several patterns if all are single elements, and few; None otherwise."""
    found = [find_segments(elements) or [] for elements in vectors]
    singles = all(own and all(one.width == 1 for one in own) for own in found)
    return found if singles and sum(map(len, found)) <= _MOST else None


def load_segments(
    b: Builder, host: str, type_: str, segments: Sequence[Segment], elements: Sequence[int]
) -> str:
    """What each lane's element holds, all of which may be read, as a vector."""
    result = "poison"
    for segment in segments:
        own = [0 <= element - segment.start < segment.width for element in elements]
        if not any(own):
            continue
        loaded = _load(b, host, type_, segment)
        if segment.width == 1:
            spread = b.splat(type_, loaded)
        else:
            picks = (e - segment.start if mine else 0 for e, mine in zip(elements, own, strict=True))
            spread = b.shuffle(type_, segment.width, loaded, picks)
        if result == "poison":
            result = spread
        else:
            picks = (lane + b.width * mine for lane, mine in enumerate(own))
            result = b.shuffle(type_, b.width, result, picks, spread)
    return result


def _load(b: Builder, host: str, type_: str, segment: Segment) -> str:
    where = b.offset(host, segment.start * BITS[type_] // 8)
    if segment.full:
        return b.load(vector(type_, segment.width), where, ", align 1")
    present = constant_vector("i1", (str(k in segment.present).lower() for k in range(segment.width)))
    return b.masked_load(type_, segment.width, where, present)


def store_segments(
    b: Builder,
    host: str,
    type_: str,
    segments: Sequence[Segment],
    elements: Sequence[int],
    value: str,
    mask: str,
    how: str = "align 1",
) -> None:
    """Put the lanes of a mask where each has its element, which are all different."""
    lane_of = {element: lane for lane, element in enumerate(elements)}
    for segment in segments:
        where = b.offset(host, segment.start * BITS[type_] // 8)
        lanes = [lane_of.get(segment.start + k) for k in range(segment.width)]
        if segment.width == 1 and mask == "-1":
            one = b.value(f"extractelement {b.vector(type_)} {value}, i32 {lanes[0]}")
            b.store(type_, one, where, ", align 1")
            continue
        part = b.shuffle(type_, b.width, value, (lane or 0 for lane in lanes))
        if segment.full and mask == "-1":
            b.store(vector(type_, segment.width), part, where, f", {how}")
            continue
        b.masked_store(type_, segment.width, part, where, b.owned(mask, BITS[type_], lanes))


# ------------------------------------------------------------------------------------ lanes far apart
def load_each(b: Builder, host: str, type_: str, places: Sequence[int], unit: int = 0) -> str:
    """What each lane's element holds, one by one: no address is computed, as there is for a gather.

    Places are in units of so many bytes, 0 for elements.
    """
    found = "poison"
    for lane, place in enumerate(places):
        one = b.load(type_, b.offset(host, place * (unit or BITS[type_] // 8)), ", align 1")
        found = b.value(f"insertelement {b.vector(type_)} {found}, {type_} {one}, i32 {lane}")
    return found


def store_each(b: Builder, host: str, type_: str, elements: Sequence[int], value: str) -> None:
    """Put each lane's value to its element, the highest lane last."""
    for lane, element in enumerate(elements):
        one = b.value(f"extractelement {b.vector(type_)} {value}, i32 {lane}")
        b.store(type_, one, b.offset(host, element * BITS[type_] // 8), ", align 1")
