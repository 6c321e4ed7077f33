"""Undefined bytes travel: a copy within shared or local memory makes its target what its source is.

Only kernels with such copies come here. A byte for each byte of shared memory says whether
it was never written, written, or written with an undefined one; in local memory the last counts as never
written. What a load finds undefined stays in a word of each lane, a bit a byte, for the stores of what it has
loaded.
"""

from __future__ import annotations

from .. import layout
from ..intrinsics import load, load_byte, store, store_byte
from ..native import exported, inlined, native
from ..races.journal import is_open, is_written
from ..races.shadow_lines import stamp_at
from ..recorder import note, row_of, set_word, stamp_of, word
from ..regions import is_local, is_shared, region_of
from .unwritten import record_undefined, used_element

_NEVER, _WRITTEN, _UNDEFINED = 0, 1, 2
_ALL_WRITTEN = 0x0101010101010101  # the states of eight bytes
_EVERYONE = (1 << layout.LANES) - 1


@native
def forget_written(S):
    """Local and shared memory start unwritten in every block."""
    set_word(S, layout.FOLLOWING, 0)
    if word(S, layout.JOURNAL_SIZE) == 0:
        set_word(S, layout.FOLLOWING, 1)
        shared = word(S, layout.SHARED_BYTES)
        for at in range(shared, shared + word(S, layout.SHARED_SIZE), 8):
            store(at, 0)
    end = word(S, layout.LOCAL) + word(S, layout.WARP_COUNT) * layout.LANES * word(S, layout.LOCAL_SIZE)
    for at in range(word(S, layout.LOCAL), end, 8):
        store(at, 0)


@native
def _side_by_side(addresses, size):
    """Whether all lanes' accesses are neighbours, in order."""
    first, apart = load(addresses), 0
    for lane in range(layout.LANES):
        apart |= load(addresses + 8 * lane) ^ (first + lane * size)
    return apart == 0


@native
def _together(S, addresses, size, space, write):
    """Note what all lanes write side by side in shared memory, or see that all they read so is written.

    False if neither is so.
    """
    first = load(addresses)
    offset = first & layout.WITHIN_WINDOW
    fits = offset + layout.LANES * size <= word(S, layout.SHARED_SIZE)
    if not (is_shared(space, first) and fits and _side_by_side(addresses, size)):
        return False
    missing, start = 0, word(S, layout.SHARED_BYTES) + offset
    for at in range(start, start + layout.LANES * size, 8):
        if write != 0:
            store(at, _ALL_WRITTEN)
        else:
            missing |= load(at) ^ _ALL_WRITTEN
    return missing == 0


@native
def _begin_following(S):
    """The block has copied undefined bytes to shared memory for the first time: note what it has written."""
    set_word(S, layout.FOLLOWING, 1)
    region = row_of(S, layout.SHARED_REGION)
    shift, tag = load(region + 8 * layout.SHIFT), word(S, layout.TAG)
    for offset in range(word(S, layout.SHARED_SIZE)):
        if is_open(S):
            written = is_written(S, offset, 1)
        else:
            written = stamp_at(region, layout.WRITES, offset >> shift) >= tag
        store_byte(word(S, layout.SHARED_BYTES) + offset, _WRITTEN if written else _NEVER)


@native
def _is_followed(S, undefined):
    """Whether some of shared memory is a copy of undefined bytes, as it is from the first such copy on."""
    if word(S, layout.FOLLOWING) == 0 and undefined != 0:
        _begin_following(S)
    return word(S, layout.FOLLOWING) != 0


@inlined
def _copied(write, found, lane):
    """The undefined bytes that a lane copies."""
    return 0 if write == 0 or found == 0 else load(found + 8 * lane)


@exported
def follow(S, info, mask, warp, addresses, found):
    """Lanes have accessed shared or local memory; `found` are their words of undefined bytes, 0 for none."""
    size, space, write = info & 255, (info >> layout.SPACE_FIELD) & 3, (info >> layout.WRITE_FIELD) & 1
    shared, shared_size = word(S, layout.SHARED_BYTES), word(S, layout.SHARED_SIZE)
    own, own_size = word(S, layout.LOCAL), word(S, layout.LOCAL_SIZE)
    bits = -1 if size >= 8 else (1 << (8 * size)) - 1
    if mask == _EVERYONE and found == 0 and _together(S, addresses, size, space, write):
        return
    lane = -1
    while mask >> (lane + 1) != 0:
        lane += 1
        if (mask >> lane) & 1 == 0:
            continue
        address = load(addresses + 8 * lane)
        local = is_local(space, address)
        undefined = _copied(write, found, lane)
        if not local and not (is_shared(space, address) and _is_followed(S, undefined)):
            continue
        offset = address & layout.WITHIN_WINDOW
        if offset + size > (own_size if local else shared_size):
            continue
        start = own + (warp * layout.LANES + lane) * own_size + offset if local else shared + offset
        if size <= 8 and undefined == 0:  # nearly always all is written
            states = load(start)
            if write != 0:
                store(start, (states & ~bits) | (_ALL_WRITTEN & bits))
                continue
            if (states ^ _ALL_WRITTEN) & bits == 0:
                continue
        if write != 0:
            for byte in range(size):
                if (undefined >> byte) & 1 == 0:
                    store_byte(start + byte, _WRITTEN)
                else:
                    store_byte(start + byte, _NEVER if local else _UNDEFINED)
        else:
            _read(S, info, start, size, warp, lane, offset)


@native
def _read(S, info, start, size, warp, lane, offset):
    """Note the bytes of a read that a copy made undefined; what is used of them is found."""
    place = (info >> layout.PLACE_FIELD) & (layout.PLACES - 1)
    told = False
    for byte in range(size):
        state = load_byte(start + byte)
        if state == _WRITTEN:
            continue
        if used_element(info, byte) == 0:
            note(S, info, lane, byte)
        elif state == _UNDEFINED and not told:
            told = True
            stamp = stamp_of(S, warp, lane, place)
            record_undefined(S, stamp, 0, layout.SHARED_REGION, offset, size)


@exported
def use(S, warp, mask, known, addresses, place):
    """Lanes use a register that has undefined bytes at a place; `known` says which (layout.py), once."""
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 == 0:
            continue
        told, address = load(known + 8 * lane), load(addresses + 8 * lane)
        store(known + 8 * lane, 0)
        size, space = (told >> layout.CARRIED_SIZE) & 255, (told >> layout.CARRIED_SPACE) & 3
        stamp = stamp_of(S, warp, lane, (told >> layout.CARRIED_PLACE) & (layout.PLACES - 1))
        if is_local(space, address):
            region, offset = layout.LOCAL_REGION, address & layout.WITHIN_WINDOW
        else:
            region = region_of(S, space, address)
            if region == layout.SHARED_REGION:
                address &= layout.WITHIN_WINDOW
            offset = address - load(row_of(S, region) + 8 * layout.BASE)
        record_undefined(S, stamp, stamp_of(S, warp, lane, place), region, offset, size)
