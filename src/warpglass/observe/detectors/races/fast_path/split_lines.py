"""A warp's part of a line of which each place has its stamp: all are tested and stored together."""

from __future__ import annotations

from ... import layout
from ..shadow_lines import spread_line
from .stamps import BYTES, EACH_LANES, NOBODY, Seen, is_palette, is_wide, no_set, note_more, word_at
from .writer import WHOLE


def _new_stamps(seen: Seen) -> None:
    """`%news`: the new stamps by place."""
    b = seen.b
    lanes = b.value(f"zext {BYTES} %lanes8 to {WHOLE}")
    lanes = b.value(f"shl {WHOLE} {lanes}, splat (i64 {layout.LANE_SHIFT})")
    b.emit(f"%news = or {WHOLE} {seen.splat('%prefix')}, {lanes}")


def _stamps(seen: Seen, at: str) -> str:
    """The stamps of a line whose word is at an address."""
    b = seen.b
    split, ready, own, shared, on = (b.label(name) for name in ("split", "ready", "own", "shared", "on"))
    pointer = seen.pointer(at)
    word = b.load("i64", pointer)
    code = b.value(f"and i64 {word}, {layout.LANE_MASK}")
    unlike = b.value(f"icmp ugt i64 {code}, {layout.EACH_LANE << layout.LANE_SHIFT}")
    unlike = seen.both(unlike, b.value(f"icmp sgt i64 {word}, 0"))
    b.branch(b.value(f"or i1 {unlike}, {is_palette(seen, word)}"), split, ready)
    b.place(split)
    seen.call(spread_line, at)
    b.jump(ready)
    b.place(ready)
    word = b.load("i64", pointer)
    b.branch(b.value(f"icmp slt i64 {word}, 0"), own, shared)
    b.place(own)
    stamps = b.load(WHOLE, _places(seen, word), ", align 8")
    b.jump(on)
    b.place(shared)
    bare = b.value(f"and i64 {word}, {~layout.LANE_MASK}")
    decoded = b.value(f"or {WHOLE} {seen.splat(bare)}, {EACH_LANES}")
    some = b.value(f"icmp ne i64 {word}, 0")
    decoded = b.value(f"select i1 {some}, {WHOLE} {decoded}, {NOBODY}")
    b.jump(on)
    b.place(on)
    return b.phi(WHOLE, (stamps, own), (decoded, shared))


def _places(seen: Seen, word: str) -> str:
    return seen.pointer(seen.b.value(f"and i64 {word}, {layout.ADDRESS_MASK}"))


def _put(seen: Seen, at: str, stamps: str, mask: str) -> None:
    """Store the stamps of a mask's places in the line whose word is at an address."""
    b = seen.b
    split, ready = b.label("split"), b.label("ready")
    pointer = seen.pointer(at)
    b.branch(is_wide(seen, b.load("i64", pointer)), ready, split)
    b.place(split)
    seen.call(spread_line, at)
    b.jump(ready)
    b.place(ready)
    places = _places(seen, b.load("i64", pointer))
    lanes = b.mask_vector(mask)
    args = [(WHOLE, stamps), ("ptr align 8", places), ("<32 x i1>", lanes)]
    b.call("void", "llvm.masked.store.v32i64.p0", args)


def write_places(seen: Seen) -> None:
    b = seen.b
    _new_stamps(seen)
    bad = seen.odd(_stamps(seen, "%w.at"), "%news", "%acting", written=True)
    readers = _stamps(seen, "%r.at")
    bad = b.value(f"or i32 {bad}, {seen.odd(readers, '%news', '%acting', written=False)}")
    read = b.value(f"xor i32 {b.mask_bits(seen.none(readers, WHOLE))}, -1")
    unread = b.value(f"icmp eq i32 {b.value(f'and i32 {read}, %acting')}, 0")
    few = b.value(f"icmp eq i64 {seen.of_region(layout.MORE_READS)}, 0")
    alone = b.value(f"or i1 {few}, {unread}")
    b.branch(seen.both(b.value(f"icmp eq i32 {bad}, 0"), no_set(seen)), "places.readers", "slow")
    b.place("places.readers")
    b.branch(alone, "places.store", "places.others")
    b.place("places.others")
    bad = "0"
    for which in (layout.LANE_READS, layout.OTHER_READS, layout.FAR_READS):
        stamps = _stamps(seen, word_at(seen, which))
        bad = b.value(f"or i32 {bad}, {seen.odd(stamps, '%news', '%acting', written=False)}")
    b.branch(b.value(f"icmp eq i32 {bad}, 0"), "places.store", "slow")
    b.place("places.store")
    _put(seen, "%w.at", "%news", "%acting")
    b.jump("next")


def read_places(seen: Seen) -> None:
    b = seen.b
    _new_stamps(seen)
    bad = seen.odd(_stamps(seen, "%w.at"), "%news", "%acting", written=True)
    b.branch(b.value(f"icmp eq i32 {bad}, 0"), "places.readers", "slow")
    b.place("places.readers")
    readers = _stamps(seen, "%r.at")
    met = seen.odd(readers, "%news", "%acting", written=False)
    b.branch(b.value(f"icmp eq i32 {met}, 0"), "places.keep", "slow" if seen.exact else "places.more")
    b.place("places.keep")
    _put(seen, "%r.at", "%news", "%acting")
    b.jump("next")
    if not seen.exact:
        b.place("places.more")
        _read_more(seen, readers, met)


def _read_more(seen: Seen, readers: str, met: str) -> None:
    """Some places have readers to remember: another lane of the warp, or another warp."""
    b = seen.b
    differ = b.value(f"xor {WHOLE} {readers}, %news")
    warps = b.value(f"and i64 %identity, {~layout.LANE_MASK}")
    of_warp = b.value(
        f"icmp eq {WHOLE} {b.value(f'and {WHOLE} {differ}, {seen.splat(warps)}')}, zeroinitializer"
    )
    late = b.value(f"icmp ult {WHOLE} {differ}, splat (i64 {1 << layout.TIME_SHIFT})")
    inner = b.mask_bits(of_warp)
    lanes = b.value(f"and i32 {b.value(f'and i32 {inner}, {b.mask_bits(late)}')}, {met}")
    outer = b.value(f"and i32 {b.value(f'xor i32 {inner}, -1')}, {met}")
    others = word_at(seen, layout.OTHER_READS)
    stamps = _stamps(seen, others)
    tags = seen.splat("%tag")
    near = b.value(f"icmp uge {WHOLE} {readers}, {tags}")
    some = b.value(f"xor <32 x i1> {seen.none(stamps, WHOLE)}, splat (i1 true)")
    old = b.value(f"icmp ult {WHOLE} {stamps}, {tags}")
    left = b.value(f"and <32 x i1> {b.value(f'and <32 x i1> {near}, {some}')}, {old}")
    far = b.value(f"and i32 {b.mask_bits(left)}, {outer}")
    b.branch(b.value(f"icmp eq i32 {far}, 0"), "places.near", "slow")
    b.place("places.near")
    note_more(seen, str(layout.SOME))
    b.branch(b.value(f"icmp eq i32 {outer}, 0"), "places.lanes", "places.outer")
    b.place("places.outer")
    _put(seen, others, readers, outer)
    b.jump("places.lanes")
    b.place("places.lanes")
    b.branch(b.value(f"icmp eq i32 {lanes}, 0"), "places.last", "places.inner")
    b.place("places.inner")
    _put(seen, word_at(seen, layout.LANE_READS), "%news", lanes)
    b.jump("places.last")
    b.place("places.last")
    kept = b.value(f"and i32 %acting, {b.value(f'xor i32 {lanes}, -1')}")
    _put(seen, "%r.at", "%news", kept)
    b.jump("next")
