"""What happens at a barrier of the whole block, as LLVM IR, in kernels that have no others."""

from __future__ import annotations

from collections.abc import Callable

from ...codegen.builder import Builder
from . import layout


def meet_at_gate(b: Builder, state: str, warp: str, place: int, gather: Callable[[], None]) -> None:
    """A warp comes to the barrier of a place; `gather` unless it finds the stamp of another that did."""
    came, on = b.label("came"), b.label("gathered")
    time = b.load("i64", _of_warp(b, state, warp, layout.TIMES))
    now = b.value(f"shl i64 {time}, {layout.TIME_SHIFT}")
    stamp = b.value(f"or i64 {now}, {b.load('i64', b.offset(state, 8 * layout.TAG))}")
    stamp = b.value(f"or i64 {stamp}, {place << layout.PLACE_SHIFT}")
    differ = b.value(f"xor i64 {stamp}, {b.load('i64', b.offset(state, 8 * layout.GATE))}")
    steps = b.load("i64", b.offset(state, 8 * layout.STEPS))
    since = b.value(f"lshr i64 {differ}, {layout.TIME_SHIFT}")
    phase = b.value(f"and i64 {since}, {b.value(f'xor i64 {steps}, -1')}")
    places = b.value(f"and i64 {differ}, {(layout.PLACES - 1) << layout.PLACE_SHIFT}")
    same = b.value(f"icmp eq i64 {b.value(f'or i64 {phase}, {places}')}, 0")
    b.branch(same, on, came)
    b.place(came)
    gather()
    b.jump(on)
    b.place(on)


def next_phase(b: Builder, state: str, warp: str) -> str:
    """All warps of the block go on at the same time, which is returned, and know all until then."""
    before = b.load("i64", _of_warp(b, state, warp, layout.TIMES))
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
        b.store("i64", value, _of_warp(b, state, warp, word))
    return now


def open_interval(b: Builder, state: str, now: str, reopen: Callable[[], None]) -> None:
    """The first warp that goes on empties the journal, or has it made anew if stamps stood for it."""
    first, stamped, empty, on = (b.label(one) for one in ("first", "stamped", "empty", "opened"))
    before = b.load("i64", b.offset(state, 8 * layout.JOURNAL_TIME))
    b.branch(b.value(f"icmp eq i64 {before}, {now}"), on, first)
    b.place(first)
    limit = b.load("i64", b.offset(state, 8 * layout.JOURNAL_LIMIT))
    size = b.load("i64", b.offset(state, 8 * layout.JOURNAL_SIZE))
    b.branch(b.value(f"icmp eq i64 {limit}, {size}"), empty, stamped)
    b.place(stamped)
    reopen()
    b.jump(on)
    b.place(empty)
    b.store("i64", now, b.offset(state, 8 * layout.JOURNAL_TIME))
    for one in (layout.READ_LIST, layout.WRITE_LIST):
        b.store("i64", "0", b.offset(state, 8 * (one + layout.LIST_COUNT)))
        b.store("i64", str(layout.NOWHERE), b.offset(state, 8 * (one + layout.LIST_LOW)))
        b.store("i64", "0", b.offset(state, 8 * (one + layout.LIST_HIGH)))
    b.jump(on)
    b.place(on)


def _of_warp(b: Builder, state: str, warp: str, word: int) -> str:
    """Where a warp's word is of those that each has."""
    return b.offset(b.value(f"getelementptr i64, ptr {state}, i64 {warp}"), 8 * word)
