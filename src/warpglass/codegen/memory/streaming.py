"""Streaming loads and stores: neighbouring lines, as a warp accesses them that walks through an array.

Several lines are loaded in their order, by which processors know what to fetch ahead.

A line that is stored into must first be fetched, which costs as much as reading it, unless the processor is
told that nobody needs it soon: whole lines of large arrays that the kernel does not read go past the caches.
A store site's fourth word says whether it is so: it is 1 if the range that the site has hit last is large
enough (the context says how large) and no load has hit it, else 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...isa.types import BITS
from ..builder import Builder, vector
from ..context import SITE_WORDS, SLOT

_LINE = 64  # bytes of a line of a cache


def fills_lines(type_: str, *extents: int) -> bool:
    """Whether numbers of elements, in a run or from one run to another, may be whole lines."""
    return all(extent * BITS[type_] % (8 * _LINE) == 0 for extent in extents)


def load_run(b: Builder, host: str, type_: str, width: int) -> str:
    """Neighbouring elements as a vector. LLVM puts two lines in order by itself, but not more."""
    size = BITS[type_] // 8
    each = _LINE // size
    if width <= 2 * each:
        return b.load(vector(type_, width), host, ", align 1")
    places = [b.offset(host, first * size) for first in range(0, width, each)]
    lines = [b.load(f"volatile {vector(type_, each)}", place, ", align 1") for place in places]
    return b.joined(type_, lines, each)


def store_parts(
    b: Builder, type_: str, parts: Sequence[str], host: str, width: int, how: str = "align 1"
) -> None:
    """Store vectors of `width` elements one behind the other."""
    for k, part in enumerate(parts):
        b.store(vector(type_, width), part, b.offset(host, k * width * BITS[type_] // 8), f", {how}")


def store_streaming(b: Builder, site: int, host: str, store: Callable[[str], None]) -> None:
    """Store whole lines, of which one is at `host`, past the caches if the site's array is large.

    `store` emits it, given how each vector is to be stored.
    """
    streams = b.load("i64", b.offset("%sites", (site * SITE_WORDS + 3) * 8))
    within = b.value(f"and i64 {b.value(f'ptrtoint ptr {host} to i64')}, {_LINE - 1}")
    stream, cached, done = b.label("stream"), b.label("cached"), b.label("written")
    b.branch(b.value(f"icmp ult i64 {within}, {streams}"), stream, cached)
    for label, how in ((stream, f"align {_LINE}, !nontemporal !3"), (cached, "align 1")):
        b.place(label)
        store(how)
        b.jump(done)
    b.place(done)


def streaming_helper(reads: Sequence[bool]) -> str:
    """`@wg_streams`: a store site's fourth word for a range; `reads` says which sites load."""
    count = len(reads)
    flags = ", ".join(f"i1 {'true' if one else 'false'}" for one in reads)
    return f"""
@wg_reads = internal constant [{count} x i1] [{flags}]
define internal i64 @wg_streams(ptr %context, ptr %sites, i64 %low, i64 %bytes) noinline cold #0 {{
entry:
  %large.p = getelementptr i64, ptr %context, i64 {SLOT["stream_bytes"]}
  %large = load i64, ptr %large.p
  %small = icmp slt i64 %bytes, %large
  br i1 %small, label %no, label %look
look:
  %k = phi i64 [ 0, %entry ], [ %k.next, %further ]
  %loads.p = getelementptr i1, ptr @wg_reads, i64 %k
  %loads = load i1, ptr %loads.p
  %its.p = getelementptr [{SITE_WORDS} x i64], ptr %sites, i64 %k
  %its = load i64, ptr %its.p
  %same = icmp eq i64 %its, %low
  %read = and i1 %same, %loads
  br i1 %read, label %no, label %further
further:
  %k.next = add i64 %k, 1
  %more = icmp ult i64 %k.next, {count}
  br i1 %more, label %look, label %yes
yes:
  ret i64 1
no:
  ret i64 0
}}
"""


# Where the store helper remembers a range (runtime.py): the site's fourth word.
REMEMBER = """  %streams = call i64 @wg_streams(ptr %context, ptr %sites, i64 %low, i64 %bytes)
  %streams.p = getelementptr i64, ptr %site.p, i64 3
  store i64 %streams, ptr %streams.p"""
