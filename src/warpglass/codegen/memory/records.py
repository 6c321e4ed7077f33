"""Records: 16 or 32 bytes of each lane from anywhere, loaded whole, and a vector of each of their elements.

A gather loads each element of each lane on its own. Of a record, a register holds that of one lane or of
several, which shuffles of two registers at a time take apart (interleave.py). On Sapphire Rapids, where
gathers are quick, eight floats of each lane take half of the time that gathers of pairs take, but four as
much; where they are slow, four took half of the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...isa.types import BITS
from ..builder import Builder, vector
from ..machine.target import gathers_quickly, vector_bytes
from .interleave import deinterleave

_WIDE, _NARROW = 32, 16  # bytes of a record
# Records of one kernel at most: each takes as much code as dozens of other accesses.
MOST = 32
NOTHING = f"@wg_nothing = internal constant [{_WIDE} x i8] zeroinitializer, align {_WIDE}\n"


def record_sizes() -> Mapping[int, int]:
    """How many bytes a record may have, and gathers of words for which it is better loaded."""
    return {_WIDE: 3} if gathers_quickly() else {_WIDE: 3, _NARROW: 2}


def is_record(type_: str, count: int) -> bool:
    """Whether so many elements of a type make up one."""
    return count > 1 and BITS[type_] >= 32 and BITS[type_] * count // 8 in record_sizes()


def load_records(b: Builder, pointers: str, type_: str, count: int, mask: str) -> list[str]:
    """All lanes' first elements, their second ones ..., from checked pointers; inactive lanes get zeros.

    The pointers go through memory, as LLVM would take them out of the vectors one by one.
    """
    if mask != "-1":
        nothing = b.splat("ptr", b.value("getelementptr i8, ptr @wg_nothing, i64 0"))
        acts = f"{b.vector('i1')} {b.mask_vector(mask)}"
        pointers = b.value(f"select {acts}, {b.vector('ptr')} {pointers}, {b.vector('ptr')} {nothing}")
    b.store_for_lanes("ptr", pointers, "%lane_addresses")
    integers, each = f"i{BITS[type_]}", min(b.width, vector_bytes() * 8 // BITS[type_])
    # As many lanes at a time as a register has elements: that takes as many registers as there are elements.
    parts = [
        deinterleave(b, integers, _registers(b, integers, count, range(lane, lane + each), each), each)
        for lane in range(0, b.width, each)
    ]
    found = [b.joined(integers, field, each) for field in zip(*parts, strict=True)]
    if type_ == integers:
        return found
    return [b.value(f"bitcast {b.vector(integers)} {one} to {b.vector(type_)}") for one in found]


def _registers(b: Builder, type_: str, count: int, lanes: Iterable[int], size: int) -> list[str]:
    """Lanes' records one behind the other, in registers of `size` elements."""
    loads: list[str] = []
    part = min(count, size)
    for lane in lanes:
        place = b.load("volatile ptr", b.offset("%lane_addresses", 8 * lane))
        loads += [
            b.load(vector(type_, part), b.offset(place, first * BITS[type_] // 8), ", align 1")
            for first in range(0, count, part)
        ]
    several = size // part
    return [b.joined(type_, loads[k : k + several], part) for k in range(0, len(loads), several)]
