"""Reads of what nobody has written: in memory that threads share, found by its stamps, and in local memory.

One byte says it for each byte of local memory, by warp, lane and address.
"""

from __future__ import annotations

from .. import layout
from ..intrinsics import load, load_byte, store_byte
from ..native import exported, inlined, native
from ..recorder import code_of, note, record, row_of, stamp_of, word
from ..regions import is_local

_UNINITIALISED_READ = code_of("uninitialised-read")


@native
def record_undefined(S, stamp, other, region, offset, size):
    """A read of what nobody has written, or, with a stamp of `other`, the use of what was read."""
    record(S, _UNINITIALISED_READ, stamp, other, region, offset, 0, 0, size)


@inlined
def used_element(info, distance):
    """1 if the element at a distance from the start of an access is used, else 0."""
    return (info >> (layout.USED_FIELD + (distance >> ((info >> layout.ELEMENT_FIELD) & 63)))) & 1


@inlined
def _defined(defined, byte):
    """Whether a byte of an allocation was written before the launch; `defined` is where its bits are."""
    return defined != 0 and (load_byte(defined + (byte >> 3)) >> (byte & 7)) & 1 != 0


@native
def find_undefined(S, info, number, offset, at, shift, stamp):
    """A place that the launch has not written is read by an access that begins at an offset."""
    size, distance = info & 255, at - offset
    defined = load(row_of(S, number) + 8 * layout.DEFINED)
    for byte in range(max(distance, 0), min(distance + (1 << shift), size)):
        if _defined(defined, offset + byte):
            continue
        if used_element(info, byte) != 0:
            record_undefined(S, stamp, 0, number, offset + byte, size)
            return
        note(S, info, (stamp >> layout.LANE_SHIFT) & 31, byte)


@exported
def access_local(S, info, mask, warp, addresses):
    """The lanes of a mask are about to access local memory, or may be."""
    size, space, write = info & 255, (info >> layout.SPACE_FIELD) & 3, (info >> layout.WRITE_FIELD) & 1
    place = (info >> layout.PLACE_FIELD) & (layout.PLACES - 1)
    extent = word(S, layout.LOCAL_SIZE)
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 == 0:
            continue
        address = load(addresses + 8 * lane)
        if not is_local(space, address):
            continue
        address &= layout.WITHIN_WINDOW
        if address + size > extent:
            continue
        start = word(S, layout.LOCAL) + (warp * layout.LANES + lane) * extent + address
        for byte in range(size):
            if write != 0:
                store_byte(start + byte, 1)
            elif load_byte(start + byte) == 0:
                if used_element(info, byte) == 0:
                    note(S, info, lane, byte)
                    continue
                stamp = stamp_of(S, warp, lane, place)
                record_undefined(S, stamp, 0, layout.LOCAL_REGION, address, size)
                break
