"""Accesses that a line remembers beside its stamps: those that no other stands for.

A place's stamps are of its last writer and reader. Who comes next **stands for** one of them if whatever
races with that races with the newcomer, too: it is ordered behind it, and no stronger. What else is displaced
goes into the line's set, to be tested by all that may race with it: atomic operations of the device's scope,
which do not race with one another, stand in a list of their own. A plain write ends what the set has of its
place: each access there is ordered before it, or races with it and has been reported.

Sets only keep the last of each thread's accesses of a kind when they are thinned out, whenever they have
doubled; so an access costs the same however many there are.
"""

from __future__ import annotations

from .. import layout
from ..intrinsics import load, store
from ..native import inlined, native
from ..recorder import set_word, word
from .happens_before import unordered
from .shadow_lines import forget_line, line_of, take

_FEWEST = 64  # accesses of a line that are not thinned out


@inlined
def set_of(row, place):
    """The address of the set of a place's line, 0 if there is none."""
    return load(line_of(row, layout.SETS, place))


@native
def stands_for(S, stamp, other):
    """Whether whatever races with an earlier access races with the one now."""
    strength = stamp & layout.STRENGTHS
    if strength != layout.PLAIN and strength != other & layout.STRENGTHS:
        return False
    return unordered(S, other, stamp) == 0


@native
def remember(S, row, place, stamp, write, shared):
    """Put an access of a place into the set of its line."""
    at = line_of(row, layout.SETS, place)
    here = load(at)
    if here == 0:
        here = word(S, layout.SPARE_SET)
        if here != 0:
            set_word(S, layout.SPARE_SET, load(here))
        else:
            here = take(S, layout.SET_BYTES)
        store(at, here)
        store(here + layout.SET_TAG, word(S, layout.TAG))
        for field in (layout.SET_OTHERS, layout.SET_ATOMIC, layout.SET_COUNT):
            store(here + field, 0)
        store(here + layout.SET_LIMIT, _FEWEST)
    elif shared and load(here + layout.SET_TAG) != word(S, layout.TAG):
        empty(S, here)
    atomic = stamp & layout.STRENGTHS == layout.ATOMIC
    head = here + (layout.SET_ATOMIC if atomic else layout.SET_OTHERS)
    one = word(S, layout.SPARE_ACCESS)
    if one != 0:
        set_word(S, layout.SPARE_ACCESS, load(one))
    else:
        one = take(S, layout.MEMBER_BYTES)
    store(one + layout.MEMBER_NEXT, load(head))
    store(one + layout.MEMBER_STAMP, stamp)
    store(one + layout.MEMBER_PLACE, place & (layout.LINE - 1) | (layout.SET_WRITE if write != 0 else 0))
    store(head, one)
    store(here + layout.SET_COUNT, load(here + layout.SET_COUNT) + 1)
    if load(here + layout.SET_COUNT) > load(here + layout.SET_LIMIT):
        _thin_out(S, here)


@native
def _free(S, one):
    store(one, word(S, layout.SPARE_ACCESS))
    set_word(S, layout.SPARE_ACCESS, one)


@native
def empty(S, here):
    """Forget all of a set, for the block under way."""
    for head in (here + layout.SET_OTHERS, here + layout.SET_ATOMIC):
        one = load(head)
        while one != 0:
            following = load(one)
            _free(S, one)
            one = following
        store(head, 0)
    store(here + layout.SET_COUNT, 0)
    store(here + layout.SET_LIMIT, _FEWEST)
    store(here + layout.SET_TAG, word(S, layout.TAG))


@native
def forget(S, here, place, atomic_only):
    """Forget what a set has of a place, or only atomic operations."""
    for field in (layout.SET_ATOMIC, layout.SET_OTHERS):
        if field == layout.SET_OTHERS and atomic_only:
            continue
        link = here + field
        one = load(link)
        while one != 0:
            following = load(one)
            if load(one + layout.MEMBER_PLACE) & (layout.LINE - 1) == place & (layout.LINE - 1):
                store(link, following)
                _free(S, one)
                store(here + layout.SET_COUNT, load(here + layout.SET_COUNT) - 1)
            else:
                link = one
            one = following


@native
def drop_set(S, row, place):
    """Do without a set that has nothing: what comes to its line has nothing to look at."""
    at = line_of(row, layout.SETS, place)
    empty_one = load(at)
    store(at, 0)
    store(empty_one, word(S, layout.SPARE_SET))
    set_word(S, layout.SPARE_SET, empty_one)


@native
def forget_memory(S, row):
    """Forget all accesses of a region."""
    lines = (load(row + 8 * layout.SIZE) >> load(row + 8 * layout.SHIFT) >> layout.LINE_SHIFT) + 1
    for number in range(lines):
        place = number << layout.LINE_SHIFT
        here = set_of(row, place)
        if here != 0:
            empty(S, here)
            drop_set(S, row, place)
        for which in (layout.WRITES, layout.READS, layout.LANE_READS, layout.OTHER_READS):
            forget_line(S, line_of(row, which, place))
        for which in (layout.EARLIER_WRITES, layout.FAR_READS):
            forget_line(S, line_of(row, which, place))


@native
def _thin_out(S, here):
    """Keep the last access of each thread to each place, by kind and strength."""
    number = word(S, layout.SET_TABLES) + 1
    set_word(S, layout.SET_TABLES, number)
    left = 3 * layout.SET_SLOTS // 4
    for head in (here + layout.SET_OTHERS, here + layout.SET_ATOMIC):
        link = head
        one = load(link)
        while one != 0:
            following = load(one)
            if left > 0 and _is_noted(
                S, number, load(one + layout.MEMBER_STAMP), load(one + layout.MEMBER_PLACE)
            ):
                store(link, following)
                _free(S, one)
                store(here + layout.SET_COUNT, load(here + layout.SET_COUNT) - 1)
            else:
                left -= 1
                link = one
            one = following
    store(here + layout.SET_LIMIT, 2 * load(here + layout.SET_COUNT) + _FEWEST)


@native
def _is_noted(S, number, stamp, place):
    """Whether a later access of the same thread was met in this table, in which it is noted from now on."""
    who = stamp & word(S, layout.IDENTITY) | stamp & layout.STRENGTHS
    kind = number << 8 | place
    slot = ((who >> layout.LANE_SHIFT) * 40503 + place * 7919 + (who >> 40)) & (layout.SET_SLOTS - 1)
    while True:
        at = word(S, layout.SET_TABLE) + 16 * slot
        if load(at + 8) >> 8 != number:
            store(at, who)
            store(at + 8, kind)
            return False
        if load(at) == who and load(at + 8) == kind:
            return True
        slot = (slot + 1) & (layout.SET_SLOTS - 1)
