"""Hints to the caches (PTX manual, "Cache Operators", "Cache Eviction Priority Hints", "prefetch, prefetchu",
"applypriority", "discard", "createpolicy").

None of them changes what a kernel computes, so on the engine they do nothing: a prefetch of an address that
nobody may access is no fault either, and `discard` leaves memory as it is. Cache policies are numbers that
only the hardware can read. `hinted` writes rows of accesses with and without such a policy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from .lanes import Lanes
from .table import Match, add_row, row

V = TypeVar("V")

LOAD_CACHE = "ca cg cs lu cv"
STORE_CACHE = "wb cg cs wt"
L1_PRIORITY = "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate"
L2_PRIORITY = "L2::evict_normal L2::evict_first L2::evict_last"
PREFETCH_SIZE = "L2::64B L2::128B L2::256B"


def hinted(before: str, after: str, operands: str) -> Iterator[str]:
    """The notation of an access without a cache policy, and with one as its last operand."""
    yield f"{before}{after}  {operands}"
    yield f"{before}.L2::cache_hint{after}  {operands}, policy:b64"


add_row("prefetch{.space}.level  [a]", space="global local", level="L1 L2", unit="memory", control="hint")
add_row("prefetch.global.level  [a]", level="L2::evict_last L2::evict_normal", unit="memory", control="hint")
add_row("prefetchu.L1  [a]", unit="memory", control="hint")
add_row("applypriority{.global}.L2::evict_normal  [a], 128", unit="memory", control="hint")
add_row("discard{.global}.L2  [a], 128", unit="memory", control="hint")

_PRIMARY = "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged"
_SECONDARY = "L2::evict_first L2::evict_unchanged"


@row(
    "createpolicy.fractional.first{.second}.b64  d, {fraction:f32}",
    first=_PRIMARY,
    second=_SECONDARY,
    unit="integer",
)
@row(
    "createpolicy.range{.global}.first{.second}.b64  d, [a], primary:u32, total:u32",
    first=_PRIMARY,
    second=_SECONDARY,
    unit="integer",
)
@row("createpolicy.cvt.L2.b64  d, property:b64", unit="integer")
def create_policy(lanes: Lanes[V], m: Match, *operands: V) -> V:
    """The policy without a preference."""
    return lanes.constant("i64", 0)
