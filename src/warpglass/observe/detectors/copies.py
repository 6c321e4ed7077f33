"""Asynchronous copies: what they write is there for a thread only once it has waited for them.

Compiled by numba. The stamp of a copy's write names a place of its own, which nobody may meet, until the
thread waits for the copy's group: then the write gets the next place, and the time of the wait. So whoever
reads before, the thread itself included, races with the copy.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from .layout import (
    COMMITTED,
    COPIES,
    COPY_SLOTS,
    COPY_TABLE,
    COPY_WORDS,
    LANE_SHIFT,
    LANES,
    OVERRUN,
    PLACE_SHIFT,
    PLACES,
    TAG,
    TIME_SHIFT,
    TIMES,
    UNCOPIED,
)
from .machine import load, load_byte, store
from .recorder import word

EVERY_GROUP = -1  # wait for all copies, committed or not


@njit(cache=True)
def under_way(S: Any, stamp: Any) -> Any:
    """Whether a stamp is that of a copy that nobody has waited for."""
    table = word(S, UNCOPIED)
    return table != 0 and load_byte(table + ((stamp >> PLACE_SHIFT) & (PLACES - 1))) != 0


@njit(cache=True)
def note_copy(S: Any, warp: Any, lane: Any, cell: Any, stamp: Any) -> None:
    """Remember a copy's write until it is waited for."""
    count = word(S, COPIES + warp)
    if count == COPY_SLOTS:
        store(S + 8 * OVERRUN, 1)
        return
    row = word(S, COPY_TABLE) + (warp * COPY_SLOTS + count) * (8 * COPY_WORDS)
    store(row, cell)
    store(row + 8, stamp)
    store(row + 16, word(S, COMMITTED + warp * LANES + lane))
    store(S + 8 * (COPIES + warp), count + 1)


@njit(cache=True)
def commit(S: Any, warp: Any, mask: Any) -> None:
    """Lanes put their copies so far into a group."""
    for lane in range(LANES):
        if (mask >> lane) & 1 != 0:
            at = S + 8 * (COMMITTED + warp * LANES + lane)
            store(at, load(at) + 1)


@njit(cache=True)
def wait_copies(S: Any, warp: Any, mask: Any, left: Any) -> None:
    """Lanes wait until no more than `left` of their latest groups are under way."""
    kept = 0
    table = word(S, COPY_TABLE) + warp * COPY_SLOTS * (8 * COPY_WORDS)
    time = word(S, TIMES + warp)
    for number in range(word(S, COPIES + warp)):
        row = table + number * (8 * COPY_WORDS)
        cell, stamp, group = load(row), load(row + 8), load(row + 16)
        lane = (stamp >> LANE_SHIFT) & 31
        done = left == EVERY_GROUP or group < word(S, COMMITTED + warp * LANES + lane) - left
        if (mask >> lane) & 1 != 0 and done:
            if load(cell) == stamp:
                who = stamp & ((1 << TIME_SHIFT) - 1)
                store(cell, word(S, TAG) | time << TIME_SHIFT | who + (1 << PLACE_SHIFT))
        else:
            target = table + kept * (8 * COPY_WORDS)
            store(target, cell)
            store(target + 8, stamp)
            store(target + 16, group)
            kept += 1
    store(S + 8 * (COPIES + warp), kept)
