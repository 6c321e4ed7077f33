"""Streaming loads and stores: neighbouring lines, as a warp accesses them that walks through an array.

Several lines are loaded in their order, by which processors know what to fetch ahead.

A line that is stored into must first be fetched, which costs as much as reading it, unless the processor is
told that nobody needs it soon: whole lines of large arrays that the kernel does not read go past the caches.
Arrays of NumPy begin 16, 32 or 48 bytes behind a line. There a run of many lines goes past the caches but for
its ends, which wait in the caches for the neighbours': half a line that does not costs more than a whole one.
A store site's fourth word says whether it is so: it is 1 if the range that the site has hit last is large
enough (the context says how large) and no load has hit it, else 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...isa.types import BITS
from ..builder import Builder, vector
from ..context import SITE_WORDS, SLOT

_LINE = 64  # bytes of a line of a cache
_PIECE = 16  # bytes at a multiple of which arrays begin
# Bytes of a run from which on it goes past the caches although lines begin elsewhere. On Sapphire Rapids sums
# of arrays take 0.73 of the time with runs of 512 bytes. With 256 those of rows side by side take up to 1.05.
_LONG = 512
_PAST = f"align {_LINE}, !nontemporal !3"


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


@dataclass(frozen=True, slots=True, order=True)
class RunType:
    """What a run is of: elements side by side, `count` vectors of `width` one behind the other."""

    element: str
    width: int
    count: int = 1

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return BITS[self.element] // 8

    @property
    def long(self) -> bool:
        """Whether it has so many lines that its ends hardly count."""
        return self.count * self.width * self.size >= _LONG

    @property
    def function(self) -> str:
        """The name of the function that stores such a run past the caches wherever it begins."""
        return f"wg_store_between_{self.element}_{self.width}x{self.count}"

    def store(self, b: Builder, parts: Sequence[str], host: str, how: str = "align 1") -> None:
        """Store a run's vectors."""
        for k, part in enumerate(parts):
            place = b.offset(host, k * self.width * self.size)
            b.store(vector(self.element, self.width), part, place, f", {how}")

    def store_between(self, b: Builder, parts: Sequence[str], host: str, distance: int) -> None:
        """Store them past the caches but for the ends, given the bytes from the start of a line to `host`."""
        end, each = self.count * self.width, _LINE // self.size
        for start, stop in pairwise([0, *range((_LINE - distance) // self.size, end, each), end]):
            how = _PAST if stop - start == each else f"align {_PIECE}"
            first = start % self.width  # a line at most, so it is in two vectors at most
            one, two = parts[start // self.width], parts[(stop - 1) // self.width]
            part = b.shuffle(self.element, self.width, one, range(first, first + stop - start), two)
            b.store(vector(self.element, stop - start), part, b.offset(host, start * self.size), f", {how}")


def store_streaming(
    b: Builder, site: int, host: str, store: Callable[[str], None], between: Callable[[], object] | None
) -> None:
    """Store whole lines, of which one is at `host`, past the caches if the site's array is large.

    `store` emits it, given how each vector is to be stored, and `between` for a host that may be anywhere in
    a line; None if there is no such way.
    """
    streams = b.load("i64", b.offset("%sites", (site * SITE_WORDS + 3) * 8))
    within = b.value(f"and i64 {b.value(f'ptrtoint ptr {host} to i64')}, {_LINE - 1}")
    stream, cached, done = b.label("stream"), b.label("cached"), b.label("written")
    elsewhere = cached if between is None else b.label("elsewhere")
    b.branch(b.value(f"icmp ult i64 {within}, {streams}"), stream, elsewhere)
    b.place(stream)
    store(_PAST)
    b.jump(done)
    if between is not None:
        b.place(elsewhere)
        anywhere = b.label("between")
        b.branch(b.value(f"icmp eq i64 {streams}, 0"), cached, anywhere)
        b.place(anywhere)
        between()
        b.jump(done)
    b.place(cached)
    store("align 1")
    b.jump(done)
    b.place(done)


def between_helper(run: RunType, declared: set[str]) -> str:
    """The function that stores such a run wherever it begins."""
    b = Builder(declared, run.width)
    parts = [f"%part{k}" for k in range(run.count)]
    within = b.value(f"and i64 {b.value('ptrtoint ptr %host to i64')}, {_LINE - 1}")
    labels = {distance: b.label("between") for distance in range(_PIECE, _LINE, _PIECE)}
    cases = " ".join(f"i64 {distance}, label %{label}" for distance, label in labels.items())
    b.emit(f"switch i64 {within}, label %cached [ {cases} ]")
    for distance, label in labels.items():
        b.place(label)
        run.store_between(b, parts, "%host", distance)
        b.emit("ret void")
    b.place("cached")
    run.store(b, parts, "%host")
    b.emit("ret void")
    given = "".join(f", {vector(run.element, run.width)} {part}" for part in parts)
    body = "\n".join(b.lines)
    return f"define internal void @{run.function}(ptr %host{given}) noinline #0 {{\nentry:\n{body}\n}}\n"


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
