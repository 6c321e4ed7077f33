"""What happens at a barrier of the whole block, in kernels that have no others."""

from __future__ import annotations

from collections.abc import Callable

from ....codegen.builder import Builder
from .. import layout
from ..emit import of_warp, where


def meet_at_gate(b: Builder, state: str, warp: str, place: int, gather: Callable[[], None]) -> None:
    """A warp comes to the barrier of a place; `gather` unless it finds the stamp of another that did."""
    time = b.load("i64", of_warp(b, state, warp, layout.TIMES))
    now = b.value(f"shl i64 {time}, {layout.TIME_SHIFT}")
    stamp = b.value(f"or i64 {now}, {b.load('i64', b.offset(state, 8 * layout.TAG))}")
    stamp = b.value(f"or i64 {stamp}, {place << layout.PLACE_SHIFT}")
    differ = b.value(f"xor i64 {stamp}, {b.load('i64', b.offset(state, 8 * layout.GATE))}")
    steps = b.load("i64", b.offset(state, 8 * layout.STEPS))
    since = b.value(f"lshr i64 {differ}, {layout.TIME_SHIFT}")
    phase = b.value(f"and i64 {since}, {b.value(f'xor i64 {steps}, -1')}")
    places = b.value(f"and i64 {differ}, {(layout.PLACES - 1) << layout.PLACE_SHIFT}")
    with where(b, b.value(f"icmp ne i64 {b.value(f'or i64 {phase}, {places}')}, 0")):
        gather()


def next_phase(b: Builder, state: str, warp: str) -> str:
    """All warps of the block go on at the same time, which is returned, and know all until then."""
    before = b.load("i64", of_warp(b, state, warp, layout.TIMES))
    end = b.value(f"or i64 {before}, {b.load('i64', b.offset(state, 8 * layout.STEPS))}")
    latest = b.load("i64", b.offset(state, 8 * layout.LAST_TIME))
    last = b.call("i64", "llvm.umin.i64", [("i64", end), ("i64", latest)])
    now = b.value(f"add i64 {last}, 1")
    shifted = b.value(f"shl i64 {now}, {layout.TIME_SHIFT}")
    floor = b.value(f"or i64 {shifted}, {b.load('i64', b.offset(state, 8 * layout.TAG))}")
    news = {
        layout.TIMES: now,
        layout.FLOORS: floor,
        layout.ALL_KNOWN: last,
        layout.LANES_KNOWN: last,
        layout.PARTIAL: "0",
    }
    for word, value in news.items():
        b.store("i64", value, of_warp(b, state, warp, word))
    return now
