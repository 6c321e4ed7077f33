"""Lines of shadow memory: one word for 32 places, or a stamp for each (layout.py says what words mean).

Compiled by numba. A line becomes 32 stamps when a place of it gets one that the others do not have; it stays
so, and its stamps stay where they are.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from .layout import (
    ADDRESS_MASK,
    FETCH,
    LANE_MASK,
    LANE_SHIFT,
    LANES,
    LINE,
    LINE_SHIFT,
    ROOM,
    ROOM_END,
)
from .machine import ask, load, store
from .recorder import word

_STAMP = 8  # bytes


@njit(cache=True, forceinline=True)
def line_of(region: Any, which: Any, place: Any) -> Any:
    """The address of the word of a place's line."""
    return load(region + 8 * which) + ((place >> LINE_SHIFT) << 3)


@njit(cache=True)
def of_whole(line: Any, number: Any) -> Any:
    """What a whole line's stamp says of one of its places."""
    if line == 0:
        return 0
    code = (line >> LANE_SHIFT) & (LANES - 1)
    log = 0
    while code >> (log + 1) != 0:
        log += 1
    lane = ((code - (1 << log)) * LINE + number) >> log
    return (line & ~LANE_MASK) | lane << LANE_SHIFT


@njit(cache=True, forceinline=True)
def stamp_at(region: Any, which: Any, place: Any) -> Any:
    """A place's stamp."""
    line, number = load(line_of(region, which, place)), place & (LINE - 1)
    if line < 0:
        return load((line & ADDRESS_MASK) + _STAMP * number)
    return 0 if line == 0 else of_whole(line, number)


@njit(cache=True)
def spread(S: Any, at: Any) -> Any:
    """Give each place of the line whose word is at an address a stamp of its own; returns where they are."""
    line = load(at)
    if line < 0:
        return line & ADDRESS_MASK
    room = word(S, ROOM)
    if room + LINE * _STAMP > word(S, ROOM_END):
        ask(word(S, FETCH), S, 0, 0)
        room = word(S, ROOM)
    store(S + 8 * ROOM, room + LINE * _STAMP)
    for number in range(LINE):
        store(room + _STAMP * number, of_whole(line, number))
    store(at, room | ~ADDRESS_MASK)
    return room


@njit(cache=True, forceinline=True)
def where(S: Any, region: Any, which: Any, place: Any) -> Any:
    """The address of a place's stamp, which is its own from now on."""
    return spread(S, line_of(region, which, place)) + _STAMP * (place & (LINE - 1))


@njit(cache=True, forceinline=True)
def put(S: Any, region: Any, which: Any, place: Any, stamp: Any) -> None:
    """Set a place's stamp."""
    if stamp_at(region, which, place) != stamp:
        store(where(S, region, which, place), stamp)


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
