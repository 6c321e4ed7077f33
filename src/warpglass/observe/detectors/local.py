"""Local memory: which bytes each thread has written, and reads of those it has not.

Compiled by numba. One byte says it for each byte of local memory, by warp, lane and address.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from .layout import (
    LANES,
    LOCAL,
    LOCAL_REGION,
    LOCAL_SIZE,
    PLACE_FIELD,
    PLACES,
    SPACE_FIELD,
    UNDEFINED,
    WRITE_FIELD,
)
from .machine import load, load_byte, store_byte
from .orders import stamp_of
from .recorder import note, record, word
from .shadow import used_element

_LOCAL, _WINDOW, _SHIFT = 3, 2, 48


@njit(cache=True)
def access_local(S: Any, info: Any, mask: Any, warp: Any, addresses: Any) -> None:
    """The lanes of a mask are about to access local memory, or may be."""
    size, space, write = info & 255, (info >> SPACE_FIELD) & 3, (info >> WRITE_FIELD) & 1
    place = (info >> PLACE_FIELD) & (PLACES - 1)
    extent = word(S, LOCAL_SIZE)
    for lane in range(LANES):
        if (mask >> lane) & 1 == 0:
            continue
        address = load(addresses + 8 * lane)
        if space != _LOCAL:
            if address >> _SHIFT != _WINDOW:
                continue
            address &= (1 << _SHIFT) - 1
        if address < 0 or address + size > extent:
            continue
        start = word(S, LOCAL) + (warp * LANES + lane) * extent + address
        for byte in range(size):
            if write != 0:
                store_byte(start + byte, 1)
            elif load_byte(start + byte) == 0:
                if used_element(info, byte) == 0:
                    note(S, info, lane, byte)
                    continue
                record(S, UNDEFINED, stamp_of(S, warp, lane, place), 0, LOCAL_REGION, address, 0, 0, size)
                break
