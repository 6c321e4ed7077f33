"""Undefined bytes travel: a copy within shared or local memory makes its target what its source is.

Compiled by numba. Only kernels with such copies come here. A byte for each byte of shared memory says whether
it was never written, written, or written with an undefined one; in local memory the last counts as never
written. What a load finds undefined stays in a word of each lane, a bit a byte, for the stores of what it has
loaded.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from .journal import is_open, is_written
from .layout import (
    BASE,
    CARRIED_PLACE,
    CARRIED_SIZE,
    CARRIED_SPACE,
    ELEMENT_FIELD,
    FOLLOWING,
    LANES,
    LOCAL,
    LOCAL_REGION,
    LOCAL_SIZE,
    PLACE_FIELD,
    PLACES,
    REGION_WORDS,
    REGIONS,
    SHARED_BYTES,
    SHARED_REGION,
    SHARED_SIZE,
    SHIFT,
    SPACE_FIELD,
    TAG,
    UNDEFINED,
    USED_FIELD,
    WRITE_FIELD,
    WRITES,
)
from .lines import stamp_at
from .machine import load, load_byte, store, store_byte
from .orders import stamp_of
from .recorder import note, record, word
from .shadow import region_of

_GENERIC, _LOCAL = 2, 3
_SHARED_WINDOW, _LOCAL_WINDOW, _SHIFT = 1, 2, 48
_NEVER, _WRITTEN, _UNDEFINED = 0, 1, 2
_ALL_WRITTEN = 0x0101010101010101  # the states of eight bytes
_EVERYONE = (1 << LANES) - 1


@njit(cache=True)
def _side_by_side(addresses: Any, size: Any) -> Any:
    """Whether all lanes' accesses are neighbours, in order."""
    first, apart = load(addresses), 0
    for lane in range(LANES):
        apart |= load(addresses + 8 * lane) ^ (first + lane * size)
    return apart == 0


@njit(cache=True)
def _together(S: Any, addresses: Any, size: Any, space: Any, write: Any) -> Any:
    """Note what all lanes write side by side in shared memory, or see that all they read so is written.

    False if neither is so.
    """
    first = load(addresses)
    offset = first & ((1 << _SHIFT) - 1)
    elsewhere = space == _LOCAL or (space == _GENERIC and first >> _SHIFT != _SHARED_WINDOW)
    if elsewhere or offset + LANES * size > word(S, SHARED_SIZE) or not _side_by_side(addresses, size):
        return False
    missing, start = 0, word(S, SHARED_BYTES) + offset
    for at in range(start, start + LANES * size, 8):
        if write != 0:
            store(at, _ALL_WRITTEN)
        else:
            missing |= load(at) ^ _ALL_WRITTEN
    return missing == 0


@njit(cache=True)
def _begin_following(S: Any) -> None:
    """The block has copied undefined bytes to shared memory for the first time: note what it has written."""
    store(S + 8 * FOLLOWING, 1)
    region = word(S, REGIONS) + SHARED_REGION * (8 * REGION_WORDS)
    shift, tag = load(region + 8 * SHIFT), word(S, TAG)
    for offset in range(word(S, SHARED_SIZE)):
        if is_open(S):
            written = is_written(S, offset, 1)
        else:
            written = stamp_at(region, WRITES, offset >> shift) >= tag
        store_byte(word(S, SHARED_BYTES) + offset, _WRITTEN if written else _NEVER)


@njit(cache=True)
def _is_followed(S: Any, undefined: Any) -> Any:
    """Whether some of shared memory is a copy of undefined bytes, as it is from the first such copy on."""
    if word(S, FOLLOWING) == 0 and undefined != 0:
        _begin_following(S)
    return word(S, FOLLOWING) != 0


@njit(cache=True, forceinline=True)
def _copied(write: Any, found: Any, lane: Any) -> Any:
    """The undefined bytes that a lane copies."""
    return 0 if write == 0 or found == 0 else load(found + 8 * lane)


@njit(cache=True)
def follow(S: Any, info: Any, mask: Any, warp: Any, addresses: Any, found: Any) -> None:
    """Lanes have accessed shared or local memory; `found` are their words of undefined bytes, 0 for none."""
    size, space, write = info & 255, (info >> SPACE_FIELD) & 3, (info >> WRITE_FIELD) & 1
    shared, shared_size = word(S, SHARED_BYTES), word(S, SHARED_SIZE)
    own, own_size = word(S, LOCAL), word(S, LOCAL_SIZE)
    bits = -1 if size >= 8 else (1 << (8 * size)) - 1
    if mask == _EVERYONE and found == 0 and _together(S, addresses, size, space, write):
        return
    lane = -1
    while mask >> (lane + 1) != 0:
        lane += 1
        if (mask >> lane) & 1 == 0:
            continue
        address = load(addresses + 8 * lane)
        window = address >> _SHIFT
        local = space == _LOCAL or (space == _GENERIC and window == _LOCAL_WINDOW)
        undefined = _copied(write, found, lane)
        other = space == _GENERIC and window != _SHARED_WINDOW
        if not local and (other or not _is_followed(S, undefined)):
            continue
        offset = address & ((1 << _SHIFT) - 1)
        if offset + size > (own_size if local else shared_size):
            continue
        start = own + (warp * LANES + lane) * own_size + offset if local else shared + offset
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


@njit(cache=True)
def _read(S: Any, info: Any, start: Any, size: Any, warp: Any, lane: Any, offset: Any) -> None:
    """Note the bytes of a read that a copy made undefined; what is used of them is found."""
    place = (info >> PLACE_FIELD) & (PLACES - 1)
    told = False
    for byte in range(size):
        state = load_byte(start + byte)
        if state == _WRITTEN:
            continue
        used = (info >> (USED_FIELD + (byte >> ((info >> ELEMENT_FIELD) & 63)))) & 1
        if used == 0:
            note(S, info, lane, byte)
        elif state == _UNDEFINED and not told:
            told = True
            record(S, UNDEFINED, stamp_of(S, warp, lane, place), 0, SHARED_REGION, offset, 0, 0, size)


@njit(cache=True)
def use(S: Any, warp: Any, mask: Any, known: Any, addresses: Any, place: Any) -> None:
    """Lanes use a register that has undefined bytes at a place; `known` says which (layout.py), once."""
    for lane in range(LANES):
        if (mask >> lane) & 1 == 0:
            continue
        told, address = load(known + 8 * lane), load(addresses + 8 * lane)
        store(known + 8 * lane, 0)
        size, space = (told >> CARRIED_SIZE) & 255, (told >> CARRIED_SPACE) & 3
        stamp = stamp_of(S, warp, lane, (told >> CARRIED_PLACE) & (PLACES - 1))
        if space == _LOCAL or (space == _GENERIC and address >> _SHIFT == _LOCAL_WINDOW):
            region, offset = LOCAL_REGION, address & ((1 << _SHIFT) - 1)
        else:
            region = region_of(S, space, address)
            if region == SHARED_REGION:
                address &= (1 << _SHIFT) - 1
            offset = address - load(word(S, REGIONS) + region * (8 * REGION_WORDS) + 8 * BASE)
        record(S, UNDEFINED, stamp, stamp_of(S, warp, lane, place), region, offset, 0, 0, size)
