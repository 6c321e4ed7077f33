"""The table of findings: one row a cause, that is a kind with the two places in the program and the region.

Compiled by numba. The first finding of a cause is kept whole, further ones are counted.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from .layout import (
    ACCESS,
    BLOCK_OF,
    BLOCK_SHIFT,
    COUNT,
    EXTRA,
    FINDING_SLOTS,
    FINDING_WORDS,
    FINDINGS,
    FINDINGS_FULL,
    KEY,
    KIND,
    NOTE_FIELD,
    NOTES,
    OFFSET,
    OTHER,
    PLACE_SHIFT,
    PLACES,
    REGION,
    SAME_VALUE,
    STAMP,
    TAG,
)
from .machine import load, store


@njit(cache=True, forceinline=True)
def word(S: Any, index: Any) -> Any:
    """A word of a worker's state."""
    return load(S + 8 * index)


@njit(cache=True)
def note(S: Any, info: Any, lane: Any, byte: Any) -> None:
    """A byte of what a lane loads is undefined; whether it is used shows later."""
    if (info >> NOTE_FIELD) & 1 != 0:
        at = word(S, NOTES) + 8 * lane
        store(at, load(at) | 1 << byte)


@njit(cache=True)
def record(
    S: Any,
    kind: Any,
    stamp: Any,
    other: Any,
    region: Any,
    offset: Any,
    same: Any,
    access: Any,
    extra: Any,
) -> None:
    """Count a finding; the first of its cause is kept whole."""
    here = (stamp >> PLACE_SHIFT) & (PLACES - 1)
    there = (other >> PLACE_SHIFT) & (PLACES - 1)
    key = 1 | kind << 1 | here << 5 | there << 16 | (region & 0xFFFF) << 27 | same << 43 | access << 44
    table = word(S, FINDINGS)
    slot = (key * 40503) & (FINDING_SLOTS - 1)
    for _ in range(FINDING_SLOTS):
        row = table + slot * (8 * FINDING_WORDS)
        found = load(row + 8 * KEY)
        if found == key:
            store(row + 8 * COUNT, load(row + 8 * COUNT) + 1)
            return
        if found == 0:
            store(row + 8 * KEY, key)
            store(row + 8 * COUNT, 1)
            store(row + 8 * KIND, kind)
            store(row + 8 * STAMP, stamp)
            store(row + 8 * OTHER, other)
            store(row + 8 * REGION, region)
            store(row + 8 * OFFSET, offset)
            store(row + 8 * SAME_VALUE, same)
            store(row + 8 * ACCESS, access)
            store(row + 8 * EXTRA, extra)
            store(row + 8 * BLOCK_OF, word(S, TAG) >> word(S, BLOCK_SHIFT))
            return
        slot = (slot + 1) & (FINDING_SLOTS - 1)
    store(S + 8 * FINDINGS_FULL, word(S, FINDINGS_FULL) + 1)
