"""What synchronises: barriers, warp barriers and the clocks of warps and lanes that they advance.

Compiled by numba. A warp knows of every other warp up to which of its times all that it did is ordered before
now. Whoever comes to a barrier leaves what it knows in the barrier's meeting; whoever goes on from it takes
what all left. Warps that meet in a barrier of the whole block agree on one time, so that a single comparison
(layout.py, `FLOORS`) tells most accesses to be ordered.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from .journal import open_block
from .layout import (
    ABSENT,
    ALL_KNOWN,
    AWAITED,
    AWAITED_AGAIN,
    AWAITED_AT,
    BLOCK,
    BLOCK_SHIFT,
    CAME,
    COPIES,
    COUNTED,
    DIVERGENCE,
    EARLY,
    EARLY_AT,
    EARLY_PLACE,
    EVERYONE,
    FLOORS,
    FOLLOWING,
    GATE,
    INACTIVE,
    JOURNAL_SIZE,
    KNOWN,
    KNOWN_THERE,
    LANE_CLOCKS,
    LANE_SHIFT,
    LANES,
    LANES_KNOWN,
    LAST_TIME,
    LATEST,
    LOCAL,
    LOCAL_SIZE,
    MEETING_WORDS,
    MEETINGS,
    MISSED,
    OUTSIDER,
    OVERRUN,
    PARTIAL,
    PENDING,
    PLACE_SHIFT,
    PLACES,
    SHARED_BYTES,
    SHARED_SIZE,
    STARTED,
    STEPS,
    TAG,
    TIME_SHIFT,
    TIMES,
    WARP_COUNT,
    WARP_SHIFT,
    WARPS,
)
from .machine import load, store
from .recorder import record


@njit(cache=True, forceinline=True)
def _word(S: Any, index: Any) -> Any:
    return load(S + 8 * index)


@njit(cache=True, forceinline=True)
def _put(S: Any, index: Any, value: Any) -> None:
    store(S + 8 * index, value)


@njit(cache=True)
def begin(S: Any, block: Any, warp: Any, mask: Any) -> None:
    """A warp begins; the first of a block begins the block."""
    if _word(S, BLOCK) != block:
        report_absent(S)
        clear_local(S)
        open_block(S)
        _put(S, BLOCK, block)
        tag = (block + 1) << _word(S, BLOCK_SHIFT)
        _put(S, TAG, tag)
        warps = _word(S, WARP_COUNT)
        for one in range(warps):
            _put(S, TIMES + one, 1)
            _put(S, FLOORS + one, tag)
            _put(S, LANES_KNOWN + one, 0)
            _put(S, PARTIAL + one, 0)
            _put(S, STARTED + one, 0)
            _put(S, AWAITED + one, 0)
            _put(S, EARLY + one, 0)
            _put(S, AWAITED_AGAIN + one, 0)
            _put(S, MISSED + one, 0)
            _put(S, COPIES + one, 0)
            _put(S, PENDING + one, 0)
            _put(S, ALL_KNOWN + one, 0)
        if _word(S, COUNTED) != 0:
            _forget_meetings(S, warps)
    if _word(S, STARTED + warp) == 0:
        _put(S, STARTED + warp, mask)


@njit(cache=True)
def _forget_meetings(S: Any, warps: Any) -> None:
    """No warp has come to a barrier whose arrivals are counted."""
    for one in range(warps):
        for other in range(warps):
            _put(S, KNOWN + one * WARPS + other, 0)
    for meeting in range(32):
        _put(S, MEETINGS + meeting * MEETING_WORDS + CAME, 0)


@njit(cache=True)
def report_absent(S: Any) -> None:
    """Lanes that others waited for and that never came, of a block that has ended."""
    if _word(S, BLOCK) < 0:
        return
    for warp in range(_word(S, WARP_COUNT)):
        absent = _word(S, AWAITED + warp)
        if absent != 0:
            _put(S, AWAITED + warp, 0)
            at = _word(S, AWAITED_AT + warp)
            stamp = stamp_of(S, warp, at & 255, at >> 8)
            other = 0
            if _word(S, MISSED + warp) != 0:
                other = stamp_of(S, warp, first_lane(absent), _word(S, MISSED + warp))
            record(S, ABSENT, stamp, other, 0, 0, 0, 0, absent)


@njit(cache=True)
def clear_local(S: Any) -> None:
    """Local and shared memory start unwritten in every block."""
    _put(S, FOLLOWING, 0)
    if _word(S, JOURNAL_SIZE) == 0:
        _put(S, FOLLOWING, 1)
        shared = _word(S, SHARED_BYTES)
        for at in range(shared, shared + _word(S, SHARED_SIZE), 8):
            store(at, 0)
    end = _word(S, LOCAL) + _word(S, WARP_COUNT) * LANES * _word(S, LOCAL_SIZE)
    for at in range(_word(S, LOCAL), end, 8):
        store(at, 0)


@njit(cache=True)
def stamp_of(S: Any, warp: Any, lane: Any, place: Any) -> Any:
    """The stamp of a thread at a place now."""
    time = _word(S, TIMES + warp)
    return _word(S, TAG) | time << TIME_SHIFT | warp << WARP_SHIFT | lane << LANE_SHIFT | place << PLACE_SHIFT


@njit(cache=True)
def first_lane(mask: Any) -> Any:
    """The lowest lane of a mask."""
    lane = 0
    while lane < 31 and (mask >> lane) & 1 == 0:
        lane += 1
    return lane


@njit(cache=True)
def park(S: Any, warp: Any, mask: Any, members: Any, others: Any, place: Any) -> None:
    """Lanes wait at an instruction with a member mask for those of their members that are elsewhere."""
    wanted = 0
    for lane in range(LANES):
        if (mask >> lane) & 1 != 0:
            wanted |= load(members + 8 * lane)
    absent = wanted & others & ~mask
    if absent != 0:
        again = absent & _word(S, EARLY + warp)
        _put(S, AWAITED_AGAIN + warp, _word(S, AWAITED_AGAIN + warp) | again)
        _put(S, AWAITED + warp, _word(S, AWAITED + warp) | absent & ~again)
        _put(S, AWAITED_AT + warp, place << 8 | first_lane(mask))


@njit(cache=True)
def diverge(S: Any, warp: Any, mask: Any, others: Any, place: Any, elsewhere: Any) -> None:
    """Lanes come to a barrier while others of their warp stand where they may still come to one."""
    if others & ~mask != 0 and mask != 0:
        stamp = stamp_of(S, warp, first_lane(mask), place)
        other = stamp_of(S, warp, first_lane(others & ~mask), elsewhere)
        record(S, DIVERGENCE, stamp, other, 0, 0, 0, 0, others & ~mask)


@njit(cache=True)
def gather(S: Any, warp: Any, mask: Any, place: Any) -> None:
    """A warp comes to a barrier of the block in a kernel that has several, none of them named.

    All warps that it lets go on must have come to the same one.
    """
    stamp = stamp_of(S, warp, first_lane(mask), place)
    first = _word(S, GATE)
    if ((first ^ stamp) >> TIME_SHIFT) & ~_word(S, STEPS) != 0:
        _put(S, GATE, stamp)
    elif ((first ^ stamp) >> PLACE_SHIFT) & (PLACES - 1) != 0:
        record(S, DIVERGENCE, stamp, first, 0, 0, 0, 0, 0)


@njit(cache=True)
def exchange(S: Any, warp: Any, mask: Any, sources: Any, members: Any, place: Any, chosen: Any) -> None:
    """Lanes read registers of others; `chosen` says that the source is any lane that the program names."""
    for lane in range(LANES):
        if (mask >> lane) & 1 == 0:
            continue
        source = load(sources + 8 * lane) & 31
        named = chosen != 0 or (load(members + 8 * lane) >> source) & 1 != 0
        if (mask >> source) & 1 == 0 and named:
            stamp = stamp_of(S, warp, lane, place)
            record(S, INACTIVE, stamp, stamp_of(S, warp, source, 0), 0, 0, 0, 0, source)


@njit(cache=True)
def _advance(S: Any, warp: Any, time: Any) -> None:
    """A warp's time grows to at least a number."""
    if time > _word(S, LAST_TIME):
        _put(S, OVERRUN, 1)
        time = _word(S, LAST_TIME)
    _put(S, TIMES + warp, time)


@njit(cache=True)
def _step(S: Any, warp: Any) -> None:
    """A warp's time grows, without coming to that of the next barrier of the block."""
    time = _word(S, TIMES + warp)
    if (time + 1) & _word(S, STEPS) == 0:
        _put(S, OVERRUN, 1)
    else:
        _advance(S, warp, time + 1)


@njit(cache=True)
def _raise_floor(S: Any, warp: Any) -> None:
    """Find anew up to which stamp everything is ordered before what a warp does now."""
    least, everyone = _word(S, LANES_KNOWN + warp), _word(S, ALL_KNOWN + warp)
    if least > everyone:
        for other in range(_word(S, WARP_COUNT)):
            if other != warp:
                least = min(least, max(everyone, _word(S, KNOWN + warp * WARPS + other)))
    _put(S, FLOORS + warp, _word(S, TAG) | (least + 1) << TIME_SHIFT)


@njit(cache=True)
def arrive(S: Any, warp: Any, barrier: Any, count: Any, wait: Any, generation: Any) -> None:
    """A warp comes to a barrier in a kernel that has several; `count` is 0 for all threads."""
    number = 2 * barrier + (generation & 1)
    meeting = MEETINGS + number * MEETING_WORDS
    if _word(S, meeting + CAME) != generation + 1:
        _put(S, meeting + CAME, generation + 1)
        _put(S, meeting + LATEST, 0)
        _put(S, meeting + EVERYONE, 1 if count == 0 else 0)
        if count != 0:
            for one in range(_word(S, WARP_COUNT)):
                _put(S, meeting + KNOWN_THERE + one, 0)
    time = _word(S, TIMES + warp)
    _put(S, meeting + LATEST, max(time, _word(S, meeting + LATEST)))
    if count != 0:
        _leave_knowledge(S, warp, meeting, time)
    if wait != 0:
        _put(S, PENDING + warp, number + 1)
    else:
        _advance(S, warp, time + 1)


@njit(cache=True)
def _leave_knowledge(S: Any, warp: Any, meeting: Any, time: Any) -> None:
    """What a warp knows of the others goes to those it meets at a barrier that is not for all."""
    for one in range(_word(S, WARP_COUNT)):
        known = max(_word(S, KNOWN + warp * WARPS + one), _word(S, ALL_KNOWN + warp))
        if one == warp:
            known = time
        _put(S, meeting + KNOWN_THERE + one, max(known, _word(S, meeting + KNOWN_THERE + one)))


@njit(cache=True)
def settle(S: Any, warp: Any) -> None:
    """A warp goes on behind a barrier."""
    number = _word(S, PENDING + warp) - 1
    if number < 0:
        return
    _put(S, PENDING + warp, 0)
    meeting = MEETINGS + number * MEETING_WORDS
    latest = _word(S, meeting + LATEST)
    everyone = _word(S, meeting + EVERYONE)
    _put(S, PARTIAL + warp, 0)
    if everyone != 0:
        _put(S, ALL_KNOWN + warp, latest)
        _put(S, LANES_KNOWN + warp, latest)
        _put(S, FLOORS + warp, _word(S, TAG) | (latest + 1) << TIME_SHIFT)
    else:
        for one in range(_word(S, WARP_COUNT)):
            known = max(_word(S, meeting + KNOWN_THERE + one), _word(S, KNOWN + warp * WARPS + one))
            _put(S, KNOWN + warp * WARPS + one, known)
        _put(S, LANES_KNOWN + warp, _word(S, TIMES + warp))
        _raise_floor(S, warp)
    _advance(S, warp, max(latest, _word(S, TIMES + warp)) + 1)


@njit(cache=True)
def meet(S: Any, warp: Any, mask: Any, members: Any, place: Any, exchanges: Any) -> None:
    """Lanes run an instruction with a member mask, one word for each lane at `members`.

    Those of a mask who are not there have ended; where values are exchanged, that is worth a finding.
    """
    time, started = _word(S, TIMES + warp), _word(S, STARTED + warp)
    early = _note_early(S, warp, mask)
    whole, missing = mask == started, 0
    for lane in range(LANES):
        if (mask >> lane) & 1 == 0:
            continue
        group = load(members + 8 * lane)
        if group & started != started:
            whole = False
        missing |= group & started & ~mask
        if exchanges != 0 and group & started & ~mask != 0:
            record(S, ABSENT, stamp_of(S, warp, lane, place), 0, 0, 0, 0, 0, group & started & ~mask)
        if (group >> lane) & 1 == 0:
            record(S, OUTSIDER, stamp_of(S, warp, lane, place), 0, 0, 0, 0, 0, group)
    if whole:
        _put(S, LANES_KNOWN + warp, time)
        _raise_floor(S, warp)
    else:
        _meet_partly(S, warp, mask, members, time, early)
    if missing != 0:
        _put(S, EARLY + warp, missing)
        _put(S, EARLY_AT + warp, time)
        _put(S, EARLY_PLACE + warp, place)
    _step(S, warp)


@njit(cache=True)
def _note_early(S: Any, warp: Any, mask: Any) -> Any:
    """The lanes of those that run a warp barrier who have met others of their warp there before."""
    early = _word(S, EARLY + warp) & mask
    again = _word(S, AWAITED_AGAIN + warp) & early
    _put(S, AWAITED + warp, _word(S, AWAITED + warp) & ~mask | again)
    _put(S, AWAITED_AGAIN + warp, _word(S, AWAITED_AGAIN + warp) & ~mask)
    _put(S, EARLY + warp, _word(S, EARLY + warp) & ~mask)
    if again != 0:
        _put(S, MISSED + warp, _word(S, EARLY_PLACE + warp))
    return early


@njit(cache=True)
def _meet_partly(S: Any, warp: Any, mask: Any, members: Any, now: Any, early: Any) -> None:
    clocks = LANE_CLOCKS + warp * LANES * LANES
    if _word(S, PARTIAL + warp) == 0:
        _put(S, PARTIAL + warp, 1)
        for one in range(LANES * LANES):
            _put(S, clocks + one, _word(S, LANES_KNOWN + warp))
    for lane in range(LANES):
        if (mask >> lane) & 1 == 0:
            continue
        group = load(members + 8 * lane) & 0xFFFFFFFF
        time = now if (early >> lane) & 1 == 0 else _word(S, EARLY_AT + warp)
        # What the others of the group have learned from lanes outside is learned, too.
        for other in range(LANES):
            best = _word(S, clocks + lane * LANES + other)
            if (group >> other) & 1 != 0:
                best = time
            else:
                for member in range(LANES):
                    if (group >> member) & 1 != 0:
                        best = max(best, _word(S, clocks + member * LANES + other))
            _put(S, clocks + lane * LANES + other, best)
