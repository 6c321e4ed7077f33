"""What synchronises: barriers, warp barriers and the clocks of warps and lanes that they advance.

A warp knows of every other warp up to which of its times all that it did is ordered before
now. Whoever comes to a barrier leaves what it knows in the barrier's meeting; whoever goes on from it takes
what all left. Warps that meet in a barrier of the whole block agree on one time, so that a single comparison
(layout.py, `FLOORS`) tells most accesses to be ordered.
"""

from __future__ import annotations

from .. import layout
from ..intrinsics import load
from ..native import exported, native
from ..recorder import code_of, record, set_word, stamp_of, word
from .lanes import first_lane
from .missing import forget_missing, settle_everyone

ABSENT, OUTSIDER, INACTIVE = range(3)  # variants
_ABSENT, _OUTSIDER, _INACTIVE = (code_of("sync-mask", variant) for variant in range(3))
# By warp, zero when a block begins:
_CLEARED = (
    *(layout.LANES_KNOWN, layout.PARTIAL, layout.STARTED, layout.AWAITED, layout.AWAITED_AGAIN, layout.EARLY),
    *(layout.MISSED, layout.PENDING, layout.ALL_KNOWN),
)


@native
def start_block(S):
    """No warp has begun, nor met another."""
    for one in range(word(S, layout.WARP_COUNT)):
        set_word(S, layout.TIMES + one, 1)
        set_word(S, layout.FLOORS + one, word(S, layout.TAG))
        for words in _CLEARED:
            set_word(S, words + one, 0)
    forget_missing(S)
    if word(S, layout.COUNTED) != 0:
        _forget_meetings(S)


@native
def _forget_meetings(S):
    """No warp has come to a barrier whose arrivals are counted."""
    warps = word(S, layout.WARP_COUNT)
    for one in range(warps):
        for other in range(warps):
            set_word(S, layout.KNOWN + one * layout.WARPS + other, 0)
    for meeting in range(32):
        set_word(S, layout.MEETINGS + meeting * layout.MEETING_WORDS + layout.CAME, 0)


@exported
def report_absent(S):
    """Lanes that others waited for and that never came, of a block that has ended."""
    if word(S, layout.BLOCK) < 0:
        return
    for warp in range(word(S, layout.WARP_COUNT)):
        absent = word(S, layout.AWAITED + warp)
        if absent != 0:
            set_word(S, layout.AWAITED + warp, 0)
            at = word(S, layout.AWAITED_AT + warp)
            stamp = stamp_of(S, warp, at & 255, at >> 8)
            other = 0
            if word(S, layout.MISSED + warp) != 0:
                other = stamp_of(S, warp, first_lane(absent), word(S, layout.MISSED + warp))
            record(S, _ABSENT, stamp, other, 0, 0, 0, 0, absent)


@exported
def park(S, warp, mask, members, others, place):
    """Lanes wait at an instruction with a member mask for those of their members that are elsewhere."""
    wanted = 0
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 != 0:
            wanted |= load(members + 8 * lane)
    absent = wanted & others & ~mask
    if absent != 0:
        again = absent & word(S, layout.EARLY + warp)
        set_word(S, layout.AWAITED_AGAIN + warp, word(S, layout.AWAITED_AGAIN + warp) | again)
        set_word(S, layout.AWAITED + warp, word(S, layout.AWAITED + warp) | absent & ~again)
        set_word(S, layout.AWAITED_AT + warp, place << 8 | first_lane(mask))


@exported
def exchange(S, warp, mask, sources, members, place, chosen):
    """Lanes read registers of others; `chosen` says that the source is any lane that the program names."""
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 == 0:
            continue
        source = load(sources + 8 * lane) & 31
        named = chosen != 0 or (load(members + 8 * lane) >> source) & 1 != 0
        if (mask >> source) & 1 == 0 and named:
            stamp = stamp_of(S, warp, lane, place)
            record(S, _INACTIVE, stamp, stamp_of(S, warp, source, 0), 0, 0, 0, 0, source)


@native
def _advance(S, warp, time):
    """A warp's time grows to at least a number."""
    if time > word(S, layout.LAST_TIME):
        set_word(S, layout.OVERRUN, 1)
        time = word(S, layout.LAST_TIME)
    set_word(S, layout.TIMES + warp, time)


@native
def step(S, warp):
    """A warp's time grows, without coming to that of the next barrier of the block."""
    time = word(S, layout.TIMES + warp)
    if (time + 1) & word(S, layout.STEPS) == 0:
        set_word(S, layout.OVERRUN, 1)
    else:
        _advance(S, warp, time + 1)


@native
def _raise_floor(S, warp):
    """Find anew up to which stamp everything is ordered before what a warp does now."""
    least, everyone = word(S, layout.LANES_KNOWN + warp), word(S, layout.ALL_KNOWN + warp)
    if least > everyone:
        for other in range(word(S, layout.WARP_COUNT)):
            if other != warp:
                least = min(least, max(everyone, word(S, layout.KNOWN + warp * layout.WARPS + other)))
    set_word(S, layout.FLOORS + warp, word(S, layout.TAG) | (least + 1) << layout.TIME_SHIFT)


@exported
def arrive(S, warp, barrier, count, wait, generation):
    """A warp comes to a barrier in a kernel that has several; `count` is 0 for all threads."""
    number = 2 * barrier + (generation & 1)
    meeting = layout.MEETINGS + number * layout.MEETING_WORDS
    if word(S, meeting + layout.CAME) != generation + 1:
        set_word(S, meeting + layout.CAME, generation + 1)
        set_word(S, meeting + layout.LATEST, 0)
        set_word(S, meeting + layout.EVERYONE, 1 if count == 0 else 0)
        if count != 0:
            for one in range(word(S, layout.WARP_COUNT)):
                set_word(S, meeting + layout.KNOWN_THERE + one, 0)
    set_word(S, layout.MET_LAST + warp, number)
    time = word(S, layout.TIMES + warp)
    set_word(S, meeting + layout.LATEST, max(time, word(S, meeting + layout.LATEST)))
    if count != 0:
        _leave_knowledge(S, warp, meeting, time)
    if wait != 0:
        set_word(S, layout.PENDING + warp, number + 1)
    else:
        _advance(S, warp, time + 1)


@native
def _leave_knowledge(S, warp, meeting, time):
    """What a warp knows of the others goes to those it meets at a barrier that is not for all."""
    for one in range(word(S, layout.WARP_COUNT)):
        known = max(word(S, layout.KNOWN + warp * layout.WARPS + one), word(S, layout.ALL_KNOWN + warp))
        if one == warp:
            known = time
        set_word(
            S, meeting + layout.KNOWN_THERE + one, max(known, word(S, meeting + layout.KNOWN_THERE + one))
        )


@exported
def settle(S, warp):
    """A warp goes on behind a barrier."""
    number = word(S, layout.PENDING + warp) - 1
    if number < 0:
        return
    set_word(S, layout.PENDING + warp, 0)
    set_word(S, layout.MET_LAST + warp, number)
    meeting = layout.MEETINGS + number * layout.MEETING_WORDS
    latest = word(S, meeting + layout.LATEST)
    everyone = word(S, meeting + layout.EVERYONE)
    set_word(S, layout.PARTIAL + warp, 0)
    if everyone != 0:
        settle_everyone(S, warp, number, word(S, meeting + layout.CAME))
        set_word(S, layout.ALL_KNOWN + warp, latest)
        set_word(S, layout.LANES_KNOWN + warp, latest)
        set_word(S, layout.FLOORS + warp, word(S, layout.TAG) | (latest + 1) << layout.TIME_SHIFT)
    else:
        for one in range(word(S, layout.WARP_COUNT)):
            known = max(
                word(S, meeting + layout.KNOWN_THERE + one),
                word(S, layout.KNOWN + warp * layout.WARPS + one),
            )
            set_word(S, layout.KNOWN + warp * layout.WARPS + one, known)
        set_word(S, layout.LANES_KNOWN + warp, word(S, layout.TIMES + warp))
        _raise_floor(S, warp)
    _advance(S, warp, max(latest, word(S, layout.TIMES + warp)) + 1)


@exported
def meet(S, warp, mask, members, place, exchanges):
    """Lanes run an instruction with a member mask, one word for each lane at `members`.

    Those of a mask who are not there have ended; where values are exchanged, that is worth a finding.
    """
    time, started = word(S, layout.TIMES + warp), word(S, layout.STARTED + warp)
    early = _note_early(S, warp, mask)
    whole, missing = mask == started, 0
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 == 0:
            continue
        group = load(members + 8 * lane)
        if group & started != started:
            whole = False
        missing |= group & started & ~mask
        if exchanges != 0 and group & started & ~mask != 0:
            record(S, _ABSENT, stamp_of(S, warp, lane, place), 0, 0, 0, 0, 0, group & started & ~mask)
        if (group >> lane) & 1 == 0:
            record(S, _OUTSIDER, stamp_of(S, warp, lane, place), 0, 0, 0, 0, 0, group)
    if whole:
        set_word(S, layout.LANES_KNOWN + warp, time)
        _raise_floor(S, warp)
    else:
        _meet_partly(S, warp, mask, members, time, early)
    if missing != 0:
        set_word(S, layout.EARLY + warp, missing)
        set_word(S, layout.EARLY_AT + warp, time)
        set_word(S, layout.EARLY_PLACE + warp, place)
    step(S, warp)


@native
def _note_early(S, warp, mask):
    """The lanes of those that run a warp barrier who have met others of their warp there before."""
    early = word(S, layout.EARLY + warp) & mask
    again = word(S, layout.AWAITED_AGAIN + warp) & early
    set_word(S, layout.AWAITED + warp, word(S, layout.AWAITED + warp) & ~mask | again)
    set_word(S, layout.AWAITED_AGAIN + warp, word(S, layout.AWAITED_AGAIN + warp) & ~mask)
    set_word(S, layout.EARLY + warp, word(S, layout.EARLY + warp) & ~mask)
    if again != 0:
        set_word(S, layout.MISSED + warp, word(S, layout.EARLY_PLACE + warp))
    return early


@native
def _meet_partly(S, warp, mask, members, now, early):
    clocks = layout.LANE_CLOCKS + warp * layout.LANES * layout.LANES
    if word(S, layout.PARTIAL + warp) == 0:
        set_word(S, layout.PARTIAL + warp, 1)
        for one in range(layout.LANES * layout.LANES):
            set_word(S, clocks + one, word(S, layout.LANES_KNOWN + warp))
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 == 0:
            continue
        group = load(members + 8 * lane) & 0xFFFFFFFF
        time = now if (early >> lane) & 1 == 0 else word(S, layout.EARLY_AT + warp)
        # What the others of the group have learned from lanes outside is learned, too.
        for other in range(layout.LANES):
            best = word(S, clocks + lane * layout.LANES + other)
            if (group >> other) & 1 != 0:
                best = time
            else:
                for member in range(layout.LANES):
                    if (group >> member) & 1 != 0:
                        best = max(best, word(S, clocks + member * layout.LANES + other))
            set_word(S, clocks + lane * layout.LANES + other, best)
