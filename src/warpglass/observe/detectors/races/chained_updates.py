"""Updates that acquire and release: each knows those before it at its place, so that only the last counts.

The first at a place is looked at as any access. A table by address (fast_path/atomics.py) then lets others
pass, whose stamps only the place's value has (causality.py), until anybody else comes there: then the last
becomes the place's writer, and stands for all of them.
"""

from __future__ import annotations

from .. import layout
from ..intrinsics import load, store
from ..native import native
from ..recorder import row_of, word
from ..regions import region_of
from .causality import shared_value, value_at
from .shadow_lines import put, stamp_at

_LOG = 7


@native
def _entry_of(S, address):
    return word(S, layout.STOOD_FOR) + (((address >> layout.STOOD_SHIFT) & (layout.STOOD_SLOTS - 1)) << 4)


@native
def settle_updates(S, address):
    """Somebody comes to a place: the last of the updates that have passed becomes its writer."""
    for start in (address, address & ~7):
        at = _entry_of(S, start)
        if (load(at) ^ start) >> layout.STOOD_SHIFT == 0 and load(at + 8) != 0:
            _settle(S, at)


@native
def _settle(S, at):
    address, until = load(at), load(at + 8)
    store(at + 8, 0)
    near = until > 0
    if near and (until ^ word(S, layout.TAG)) >> layout.TIME_SHIFT != 0:
        return  # of an earlier block
    number = layout.SHARED_REGION if near else region_of(S, layout.GENERIC_SPACE, address)
    value = shared_value(S, address) if near else value_at(S, address, 0, 1)
    if number < 0 or value == 0:
        return
    row = row_of(S, number)
    offset, shift = address - load(row + 8 * layout.BASE), load(row + 8 * layout.SHIFT)
    stamp = load(value + layout.VALUE_UPDATE)
    if stamp == 0:  # none has passed
        return
    for place in range(offset >> shift, ((offset + (1 << (until & _LOG)) - 1) >> shift) + 1):
        if stamp_at(row, layout.WRITES, place) != 0:
            put(S, row, layout.WRITES, place, stamp)


@native
def note_updates(S, number, offset, size):
    """The place's writer is an update whose like may pass from now on."""
    near = number == layout.SHARED_REGION
    if (near and word(S, layout.SEVERAL) != 0) or number == layout.HEAP_REGION:
        return
    address = load(row_of(S, number) + 8 * layout.BASE) + offset
    at = _entry_of(S, address)
    if load(at + 8) != 0:
        _settle(S, at)
    value = shared_value(S, address) if near else value_at(S, address, 0, 1)
    if value == 0:
        return
    store(value + layout.VALUE_UPDATE, 0)
    log = 2 if size == 4 else 3
    store(at, address)
    store(at + 8, (word(S, layout.TAG) | layout.CHAINED_NEAR if near else layout.CHAINED) | log)
