"""Asynchronous copies from global to shared memory (PTX manual, "cp.async").

A copy may be complete at any time between its issue and the wait for it; here it is at once. It is a load
and a store of one instruction, so whoever observes accesses sees both, and the rows that commit and wait say
when the copied bytes are guaranteed to be there.

A copy may take fewer bytes than it writes: the others become zero, and what lies behind the bytes taken is
not touched. Lanes that take fewer store zeros and then copy in pieces of powers of two.
"""

from __future__ import annotations

from typing import TypeVar

from .hints import PREFETCH_SIZE
from .lanes import Lanes
from .table import Match, add_row

V = TypeVar("V")

# Bytes of a piece -> type and number of the elements that it is copied in.
_ELEMENTS = {1: ("i8", 1), 2: ("i16", 1), 4: ("i32", 1), 8: ("i64", 1), 16: ("i64", 2)}


def copy(lanes: Lanes[V], m: Match, a: V, b: V, size: V, *rest: V) -> None:
    """Copy to a from b; `rest` is what the source is cut to, or a predicate that ignores it, and a policy."""
    assert m.access is not None
    whole = m.access.size
    if len(rest) == bool(m.values.get("L2::cache_hint")):
        _move(lanes, a, b, whole)
        return
    taken = _taken(lanes, rest[0], whole)
    known = lanes.known(taken)
    if known == whole:
        _move(lanes, a, b, whole)
        return
    # A source that is not aligned is a fault however many bytes are taken: the whole copy finds it.
    everything = lanes.compare("eq", taken, lanes.constant("i32", whole))
    complete = lanes.or_(everything, _skewed(lanes, b, taken, whole))
    with lanes.only(complete):
        _move(lanes, a, b, whole)
    with lanes.only(lanes.not_(complete)):
        type_, count = _ELEMENTS[whole]
        lanes.store("shared", a, (lanes.constant(type_, 0),) * count, volatile=False)
        for piece in sorted((size for size in _ELEMENTS if size < whole), reverse=True):
            _move_piece(lanes, a, b, piece, taken)


def _taken(lanes: Lanes[V], given: V, whole: int) -> V:
    """The bytes that a copy takes from its source, an i32."""
    all_of_it = lanes.constant("i32", whole)
    if lanes.type_of(given) == "i1":
        return lanes.select(given, lanes.constant("i32", 0), all_of_it)
    return lanes.apply("llvm.umin", lanes.fit(given, "i32"), all_of_it)


def _skewed(lanes: Lanes[V], b: V, taken: V, whole: int) -> V:
    """Whether something is taken from an address that is not aligned."""
    low = lanes.and_(b, lanes.constant("i64", whole - 1))
    skewed = lanes.compare("ne", low, lanes.constant("i64", 0))
    return lanes.and_(skewed, lanes.compare("ne", taken, lanes.constant("i32", 0)))


def _move(lanes: Lanes[V], a: V, b: V, size: int) -> None:
    type_, count = _ELEMENTS[size]
    lanes.store("shared", a, lanes.load("global", b, type_, count, volatile=False), volatile=False)


def _move_piece(lanes: Lanes[V], a: V, b: V, piece: int, taken: V) -> None:
    """Copy the bytes for one bit of a length: they follow those for its higher bits."""
    wanted = lanes.and_(taken, lanes.constant("i32", piece))
    with lanes.only(lanes.compare("ne", wanted, lanes.constant("i32", 0))):
        before = lanes.and_(taken, lanes.constant("i32", -2 * piece))
        distance = lanes.extend(before, "i64", signed=False)
        _move(lanes, lanes.add(a, distance), lanes.add(b, distance), piece)


for _level, _sizes in (("ca", (4, 8, 16)), ("cg", (16,))):
    for _bytes in _sizes:
        for _given in ("", ", c:any"):
            for _hint, _policy in (("", ""), (".L2::cache_hint", ", policy:b64")):
                add_row(
                    f"cp.async.{_level}.space.global{_hint}{{.prefetch}}"
                    f"  [a]:u32, [b]:u64, {_bytes}:u32{_given}{_policy}",
                    space="shared shared::cta",
                    prefetch=PREFETCH_SIZE,
                    unit="memory",
                    meaning=copy,
                    access="copy",
                )

add_row("cp.async.commit_group", unit="memory", control="copy-commit")
add_row("cp.async.wait_group  n:u32", unit="memory", control="copy-wait")
add_row("cp.async.wait_all", unit="memory", control="copy-wait")
