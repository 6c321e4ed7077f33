"""The region that an address belongs to, and its row in the worker's table (layout.py)."""

from __future__ import annotations

from . import layout
from .intrinsics import load, store
from .native import exported, inlined, native
from .recorder import row_of, word

_MODULE_WINDOW, _HEAP_WINDOWS = 6, 4


@native
def _array_at(S, address):
    """The region of the allocation that an address is in, -1 if there is none."""
    table = word(S, layout.REGIONS)
    low, high = layout.FIRST_ARRAY - 1, word(S, layout.REGION_COUNT) - 1
    while low < high:  # the last that does not begin behind it
        middle = (low + high + 1) >> 1
        if load(table + middle * (8 * layout.REGION_WORDS) + 8 * layout.BASE) <= address:
            low = middle
        else:
            high = middle - 1
    region = table + low * (8 * layout.REGION_WORDS)
    if low < layout.FIRST_ARRAY or address - load(region + 8 * layout.BASE) >= load(region + 8 * layout.SIZE):
        return -1
    return low


@inlined
def is_shared(space, address):
    """Whether an address is one of shared memory."""
    window = address >> layout.RANK_SHIFT
    own = layout.SHARED_WINDOW << (layout.WINDOW_SHIFT - layout.RANK_SHIFT)
    return space == layout.SHARED_SPACE or (space == layout.GENERIC_SPACE and window == own)


@inlined
def rank_of(address):
    """The rank of the block whose shared memory an address names, -1 for other addresses."""
    named = address >> layout.WINDOW_SHIFT == layout.SHARED_WINDOW
    return ((address >> layout.RANK_SHIFT) & layout.RANKS) - 1 if named else -1


@inlined
def is_of_rank(S, number):
    """Whether a region is the shared memory of a block of the cluster."""
    return number >= word(S, layout.REGION_COUNT)


@inlined
def is_local(space, address):
    """Whether an address is one of local memory."""
    window = address >> layout.WINDOW_SHIFT
    return space == layout.LOCAL_SPACE or (space == layout.GENERIC_SPACE and window == layout.LOCAL_WINDOW)


@native
def region_of(S, space, address):
    """The region that an address belongs to, -1 for those without shadow memory."""
    window = address >> layout.WINDOW_SHIFT
    if is_shared(space, address):
        return layout.SHARED_REGION
    if window == layout.SHARED_WINDOW:
        rank = rank_of(address)
        known = rank >= 0 and rank < word(S, layout.CLUSTER_SIZE)
        return word(S, layout.REGION_COUNT) + rank if known else -1
    if window == _MODULE_WINDOW:
        return layout.MODULE_REGION
    if window >> 4 == _HEAP_WINDOWS:
        return layout.HEAP_REGION
    return _array_at(S, address)


@exported
def find_region(S, at, address):
    """Put the address of the row of a generic address's region into the word at `at`, or of any other row."""
    number = region_of(S, layout.GENERIC_SPACE, address)
    store(at, row_of(S, max(number, 0)))
