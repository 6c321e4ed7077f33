"""The journal of an interval: what a block has read and written in shared memory since its last barrier.

A barrier of the whole block orders all that came before it, so accesses of one
interval can only race with each other. As long as no two of them meet in a place they need no stamps: they
stand in two lists, one of reads and one of writes, and the barrier drops them. The first that meets an access
of another thread, or is anything but plain, has the journal turned into stamps (accesses.py), which then
stand for the rest of the interval. Which bytes the block has written stays in a bit each, `WRITTEN`.

Most accesses are entered by generated code (fast_path/journal.py); here is what looks at one lane after
the other.
"""

from __future__ import annotations

from .. import layout
from ..intrinsics import load, load_byte, load_half, store, store_byte, store_half
from ..native import inlined, native
from ..recorder import row_of, set_word, word

_LONG = 1024  # entries of a list that it is not worth looking through
_SEVERAL = layout.LANES  # in a mark: more than one lane
_MARK_SHIFT = 6
_FIRST_TIME = 1


# ---------------------------------------------------------------------------------------- intervals
@native
def open_block(S):
    """A block begins: nothing is written, nothing in the journal, if there is one."""
    if word(S, layout.JOURNAL_SIZE) == 0:
        return
    bits = word(S, layout.WRITTEN)
    for at in range(bits, bits + (word(S, layout.JOURNAL_SIZE) >> 3) + 1, 8):
        store(at, 0)
    open_interval(S, _FIRST_TIME)


@native
def open_interval(S, time):
    """All accesses so far are ordered before all that follow."""
    for one in (layout.READ_LIST, layout.WRITE_LIST):
        set_word(S, one + layout.LIST_COUNT, 0)
        set_word(S, one + layout.LIST_LOW, layout.NOWHERE)
        set_word(S, one + layout.LIST_HIGH, 0)
    set_word(S, layout.JOURNAL_LIMIT, word(S, layout.JOURNAL_SIZE))
    set_word(S, layout.JOURNAL_TIME, time)


@inlined
def is_open(S):
    """Whether the interval has a journal, not stamps."""
    return word(S, layout.JOURNAL_LIMIT) != 0


@inlined
def is_first(S):
    """Whether the block has passed no barrier."""
    return word(S, layout.JOURNAL_TIME) == _FIRST_TIME


# ---------------------------------------------------------------------------------------- written bytes
@native
def is_written(S, offset, size):
    """Whether the block has written all of some bytes of shared memory."""
    bits = word(S, layout.WRITTEN)
    missing = 0
    for byte in range(offset, offset + size):
        missing |= ~(load_byte(bits + (byte >> 3)) >> (byte & 7)) & 1
    return missing == 0


@native
def set_written(S, offset, size):
    """Note that the block has written some bytes."""
    bits = word(S, layout.WRITTEN)
    if size & 7 == 0:
        for at in range(offset >> 3, (offset + size) >> 3):
            store_byte(bits + at, 255)
    else:
        at = bits + (offset >> 3)
        store_byte(at, load_byte(at) | ((1 << size) - 1) << (offset & 7))


# ---------------------------------------------------------------------------------------- entries
@inlined
def entry_at(S, one, number):
    """The address of an entry of a list."""
    return word(S, one + layout.LIST_ENTRIES) + number * (8 * layout.ENTRY_WORDS)


@native
def earlier(S, reads, writes):
    """Which list has the next entry, of so many that were taken from each."""
    if reads == word(S, layout.READ_LIST + layout.LIST_COUNT):
        return layout.WRITE_LIST
    if writes == word(S, layout.WRITE_LIST + layout.LIST_COUNT):
        return layout.READ_LIST
    read = load(entry_at(S, layout.READ_LIST, reads) + 8 * layout.ENTRY_MASK) >> layout.NUMBER_SHIFT
    written = load(entry_at(S, layout.WRITE_LIST, writes) + 8 * layout.ENTRY_MASK) >> layout.NUMBER_SHIFT
    return layout.READ_LIST if read < written else layout.WRITE_LIST


@native
def lane_offset(entry, lane):
    """Where a lane's access of an entry begins."""
    return load(entry + 8 * layout.ENTRY_BASE) + load_half(load(entry + 8 * layout.ENTRY_OFFSETS) + 4 * lane)


@native
def enter(S, one, info, stamp, mask, addresses, low, high):
    """Add an entry to a list that has room."""
    number = word(S, one + layout.LIST_COUNT)
    room = word(S, one + layout.LIST_ROOM) + number * layout.OFFSETS_BYTES
    for lane in range(layout.LANES):
        store_half(room + 4 * lane, load(addresses + 8 * lane))
    entry = entry_at(S, one, number)
    together = word(S, layout.READ_LIST + layout.LIST_COUNT) + word(S, layout.WRITE_LIST + layout.LIST_COUNT)
    store(entry + 8 * layout.ENTRY_INFO, info)
    store(entry + 8 * layout.ENTRY_STAMP, stamp)
    store(entry + 8 * layout.ENTRY_MASK, mask | together << layout.NUMBER_SHIFT)
    store(entry + 8 * layout.ENTRY_BASE, 0)
    store(entry + 8 * layout.ENTRY_OFFSETS, room)
    store_half(word(S, one + layout.LIST_LOWS) + 4 * number, low)
    store_half(word(S, one + layout.LIST_HIGHS) + 4 * number, high)
    set_word(S, one + layout.LIST_LOW, min(low, word(S, one + layout.LIST_LOW)))
    set_word(S, one + layout.LIST_HIGH, max(high, word(S, one + layout.LIST_HIGH)))
    set_word(S, one + layout.LIST_COUNT, number + 1)


# ---------------------------------------------------------------------------------------- meetings
@native
def _shift(S):
    return load(row_of(S, layout.SHARED_REGION) + 8 * layout.SHIFT)


@native
def mark(S, size, mask, addresses):
    """Mark the places of an access with their lanes; returns whether no two of these share one."""
    call, shift = word(S, layout.MARKED) + 1, _shift(S)
    set_word(S, layout.MARKED, call)
    apart = True
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 == 0:
            continue
        offset = load(addresses + 8 * lane) & layout.WITHIN_WINDOW
        for place in range(offset >> shift, ((offset + size - 1) >> shift) + 1):
            at = word(S, layout.MARKS) + 8 * place
            if load(at) >> _MARK_SHIFT == call:
                store(at, call << _MARK_SHIFT | _SEVERAL)
                apart = False
            else:
                store(at, call << _MARK_SHIFT | lane)
    return apart


@native
def meets(S, one, warp, low, high):
    """Whether the access that was marked last meets one of another thread in a list, unless ordered."""
    count = word(S, one + layout.LIST_COUNT)
    if low >= word(S, one + layout.LIST_HIGH) or high <= word(S, one + layout.LIST_LOW):
        return False
    if count > _LONG:
        return True
    lows, highs = word(S, one + layout.LIST_LOWS), word(S, one + layout.LIST_HIGHS)
    for number in range(count):
        apart = load_half(lows + 4 * number) >= high or load_half(highs + 4 * number) <= low
        if not apart and _entry_meets(S, entry_at(S, one, number), warp):
            return True
    return False


@native
def _entry_meets(S, entry, warp):
    stamp, shift = load(entry + 8 * layout.ENTRY_STAMP), _shift(S)
    mask, size = load(entry + 8 * layout.ENTRY_MASK), load(entry + 8 * layout.ENTRY_INFO) & 255
    same = (stamp >> layout.WARP_SHIFT) & 31 == warp
    time = (stamp ^ word(S, layout.TAG)) >> layout.TIME_SHIFT
    if same and word(S, layout.LANES_KNOWN + warp) >= time:
        return False
    call = word(S, layout.MARKED)
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 == 0:
            continue
        offset = lane_offset(entry, lane)
        for place in range(offset >> shift, ((offset + size - 1) >> shift) + 1):
            found = load(word(S, layout.MARKS) + 8 * place)
            if found >> _MARK_SHIFT == call and not (same and found & ((1 << _MARK_SHIFT) - 1) == lane):
                return True
    return False
