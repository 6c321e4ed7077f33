"""Lines of shadow memory: one word for 32 places, a palette, or a stamp for each (words: see layout.py).

Compiled by numba. A line gets a palette when a place of it gets a stamp that the others do not have, and 32
stamps when the palette is full or when lanes of one instruction are scattered over lines (fast_any.py). Those
stay where they are.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from .layout import (
    ADDRESS_MASK,
    EACH_LANE,
    ENTRIES,
    ENTRY_BYTES,
    ENTRY_SHIFT,
    FETCH,
    LANE_MASK,
    LANE_SHIFT,
    LANES,
    LINE,
    LINE_SHIFT,
    PALETTE,
    PALETTE_BYTES,
    ROOM,
    ROOM_END,
    SPARE,
)
from .machine import ask, load, load_byte, store, store_byte
from .recorder import word

_STAMP = 8  # bytes
_EVERY_BYTE = 0x0101010101010101
_FIRST_LANES = 0x2726252423222120  # lanes 0 to 7 with the first stamp of a palette
_NEGATIVE = -1 << 63


@njit(cache=True)
def line_of(region: Any, which: Any, place: Any) -> Any:
    """The address of the word of a place's line."""
    return load(region + 8 * which) + ((place >> LINE_SHIFT) << 3)


@njit(cache=True)
def _lane_of_whole(line: Any, number: Any) -> Any:
    """The lane that a whole line's stamp gives one of its places."""
    code = (line >> LANE_SHIFT) & (LANES - 1)
    log = 0
    while code >> (log + 1) != 0:
        log += 1
    return ((code - (1 << log)) * LINE + number) >> log


@njit(cache=True)
def _stamp_in(line: Any, number: Any) -> Any:
    """What a line's word says of one of its places."""
    if line > 0:
        return (line & ~LANE_MASK) | _lane_of_whole(line, number) << LANE_SHIFT
    if line == 0:
        return 0
    room = line & ADDRESS_MASK
    if line & PALETTE == 0:
        return load(room + _STAMP * number)
    byte = load_byte(room + ENTRY_BYTES + number)
    if byte == 0:
        return 0
    return load(room + 8 * (byte >> ENTRY_SHIFT)) | (byte & (LANES - 1)) << LANE_SHIFT


@njit(cache=True)
def stamp_at(region: Any, which: Any, place: Any) -> Any:
    """A place's stamp."""
    line = load(line_of(region, which, place))
    return 0 if line == 0 else _stamp_in(line, place & (LINE - 1))


@njit(cache=True)
def _take(S: Any, size: Any) -> Any:
    """Memory for stamps: so many bytes."""
    room = word(S, ROOM)
    if room + size > word(S, ROOM_END):
        ask(word(S, FETCH), S, 0, 0)
        room = word(S, ROOM)
    store(S + 8 * ROOM, room + size)
    return room


@njit(cache=True)
def spread(S: Any, at: Any) -> Any:
    """Give each place of the line whose word is at an address a stamp of its own; returns where they are."""
    line = load(at)
    if line < 0 and line & PALETTE == 0:
        return line & ADDRESS_MASK
    room = _take(S, LINE * _STAMP)
    for number in range(LINE):
        store(room + _STAMP * number, _stamp_in(line, number))
    store(at, room | _NEGATIVE)
    if line < 0:
        store(line & ADDRESS_MASK, word(S, SPARE))
        store(S + 8 * SPARE, line & ADDRESS_MASK)
    return room


@njit(cache=True)
def _fill(room: Any, line: Any) -> None:
    """The bytes of a palette's places, eight at a time where they are nobody's or a lane's each."""
    if line == 0 or line & LANE_MASK == EACH_LANE << LANE_SHIFT:
        for step in range(0, LINE, 8):
            store(room + step, 0 if line == 0 else _FIRST_LANES + step * _EVERY_BYTE)
    else:
        for number in range(LINE):
            store_byte(room + number, 1 << ENTRY_SHIFT | _lane_of_whole(line, number))


@njit(cache=True)
def mix(S: Any, at: Any) -> None:
    """Give the line whose word is at an address a palette with a number left, or 32 stamps."""
    line = load(at)
    if line >= 0:
        room = word(S, SPARE)
        if room != 0:
            store(S + 8 * SPARE, load(room))
        else:
            room = _take(S, PALETTE_BYTES)
        for entry in range(ENTRIES):
            store(room + 8 * entry, 0)
        store(room, 1 if line == 0 else 2)
        store(room + 8, line & ~LANE_MASK)
        _fill(room + ENTRY_BYTES, line)
        store(at, room | _NEGATIVE | PALETTE)
    elif line & PALETTE != 0 and load(line & ADDRESS_MASK) == ENTRIES:
        _drop_unused(line & ADDRESS_MASK)
        if load(line & ADDRESS_MASK) == ENTRIES:
            spread(S, at)


@njit(cache=True)
def _drop_unused(room: Any) -> None:
    """Leave those stamps in a palette that places have, in their order."""
    used = 0
    for number in range(LINE):
        used |= 1 << (load_byte(room + ENTRY_BYTES + number) >> ENTRY_SHIFT)
    count = 1
    for entry in range(1, ENTRIES):
        if (used >> entry) & 1 == 0:
            continue
        if entry != count:
            store(room + 8 * count, load(room + 8 * entry))
            for number in range(LINE):
                byte = load_byte(room + ENTRY_BYTES + number)
                if byte >> ENTRY_SHIFT == entry:
                    store_byte(room + ENTRY_BYTES + number, count << ENTRY_SHIFT | byte & (LANES - 1))
        count += 1
    for entry in range(count, ENTRIES):
        store(room + 8 * entry, 0)
    store(room, count)


@njit(cache=True)
def where(S: Any, region: Any, which: Any, place: Any) -> Any:
    """The address of a place's stamp, which is its own from now on."""
    return spread(S, line_of(region, which, place)) + _STAMP * (place & (LINE - 1))


@njit(cache=True)
def _entry_of(line: Any, bare: Any) -> Any:
    """The number of a stamp in the palette of a line's word, 0 if it has none or not that one."""
    if line >= 0 or line & PALETTE == 0:
        return 0
    room = line & ADDRESS_MASK
    entry = load(room) - 1
    while entry > 0 and load(room + 8 * entry) != bare:
        entry -= 1
    return entry


@njit(cache=True)
def _put(S: Any, at: Any, number: Any, stamp: Any) -> None:
    bare = stamp & ~LANE_MASK
    entry = _entry_of(load(at), bare)
    if entry == 0:
        mix(S, at)
    line = load(at)
    room = line & ADDRESS_MASK
    if line & PALETTE == 0:
        store(room + _STAMP * number, stamp)
        return
    if stamp == 0:
        store_byte(room + ENTRY_BYTES + number, 0)
        return
    if entry == 0:
        entry = load(room)
        store(room + 8 * entry, bare)
        store(room, entry + 1)
    store_byte(room + ENTRY_BYTES + number, entry << ENTRY_SHIFT | (stamp >> LANE_SHIFT) & (LANES - 1))


@njit(cache=True)
def put(S: Any, region: Any, which: Any, place: Any, stamp: Any) -> None:
    """Set a place's stamp."""
    if stamp_at(region, which, place) != stamp:
        _put(S, line_of(region, which, place), place & (LINE - 1), stamp)


@njit(cache=True)
def spread_line(S: Any, at: Any) -> None:
    """`spread` for generated code."""
    spread(S, at)


@njit(cache=True)
def spread_lanes(S: Any, mask: Any, words: Any) -> None:
    """`spread` the lines of the lanes of a mask; `words` has the address of each one's word."""
    for lane in range(LANES):
        if (mask >> lane) & 1 != 0:
            spread(S, load(words + 8 * lane))
