"""The test of lanes at any addresses.

In global memory lanes of one line are tested together, line by line (shared_lines.py), unless all of their
lines have a stamp for each place. Those are gathered, and so is shared memory, which is small.
"""

from __future__ import annotations

from ... import layout
from ..shadow_lines import spread_lanes
from .shared_lines import part_test
from .stamps import (
    BYTES,
    EACH_LANES,
    NOBODY,
    Seen,
    clock,
    end,
    function,
    remembered,
    start,
    words,
)
from .writer import WHOLE

_SCATTER = "declare void @llvm.masked.scatter.v32i64.v32p0(<32 x i64>, <32 x ptr>, <32 x i1>)"


def any_test(seen: Seen) -> str:
    """The definition of a test."""
    b, write = seen.b, seen.test.write
    start(seen)
    _inside(seen)
    b.place("test")
    remembered(seen)
    clock(seen)
    _lines(seen)
    _choose(seen)
    _groups(seen)
    b.place("scattered")
    b.emit(f"%every = or {WHOLE} {seen.splat('%prefix')}, {EACH_LANES}")
    writers, written = _stamps(seen, layout.WRITES, own=write)
    readers, read = _stamps(seen, layout.READS, own=not write)
    bad = seen.odd(writers, "%every", "%mask", written=True)
    bad = b.value(f"or i32 {bad}, {seen.odd(readers, '%every', '%mask', written=False)}")
    b.branch(b.value(f"icmp eq i32 {bad}, 0"), "readers", "slow")
    b.place("readers")
    if write:
        if seen.sets:
            _sets(seen)
        _other_readers(seen, readers)
    _store(seen, written if write else read)
    end(seen)
    return function(seen)


def _inside(seen: Seen) -> None:
    """Whether all active lanes are within the first one's region, which has stamps of their size."""
    b = seen.b
    b.emit(f"%offsets = sub {WHOLE} %address, {seen.splat('%start')}")
    out = b.mask_bits(b.value(f"icmp ugt {WHOLE} %offsets, {seen.splat('%last')}"))
    inside = b.value(f"icmp eq i32 {b.value(f'and i32 {out}, %mask')}, 0")
    fits = b.value(f"icmp eq i64 %shift, {seen.test.log}")
    b.branch(seen.both(b.value("icmp sge i64 %last, 0"), fits, inside), "test", "slow")


def _lines(seen: Seen) -> None:
    """`%ats`: where lines' words lie among those of a kind, by lane; `%inners`: places in their lines."""
    b = seen.b
    b.emit("%lanes = bitcast i32 %mask to <32 x i1>")
    places = b.value(f"lshr {WHOLE} %offsets, {seen.splat('%shift')}")
    lines = b.value(f"lshr {WHOLE} {places}, splat (i64 {layout.LINE_SHIFT})")
    b.emit(f"%ats = shl {WHOLE} {lines}, splat (i64 3)")
    b.emit(f"%inners = and {WHOLE} {places}, splat (i64 {layout.LINE - 1})")


def _choose(seen: Seen) -> None:
    """Whether lanes' stamps are scattered, or are to be tested by line."""
    b = seen.b
    b.branch("%is_shared", "scattered", "global")
    b.place("global")
    own = seen.of_region(layout.WRITES if seen.test.write else layout.READS)
    words_at = b.value(f"add {WHOLE} {seen.splat(own)}, %ats")
    found = seen.gather(words_at, "%lanes", "zeroinitializer")
    held = b.mask_bits(b.value(f"icmp slt {WHOLE} {found}, zeroinitializer"))
    palettes = b.mask_bits(b.value(f"trunc {WHOLE} {found} to <32 x i1>"))
    wide = b.value(f"and i32 {held}, {b.value(f'xor i32 {palettes}, -1')}")
    left = b.value(f"and i32 %mask, {b.value(f'xor i32 {wide}, -1')}")
    b.branch(b.value(f"icmp eq i32 {left}, 0"), "scattered", "groups")


def _groups(seen: Seen) -> None:
    """Line by line: the lanes there, their places, which of them each place is accessed by."""
    b = seen.b
    b.place("groups")
    room = seen.room()
    by_place, by_lane = b.offset(room, 0), b.offset(room, layout.LINE)
    b.store(BYTES, b.value(f"trunc {WHOLE} %inners to {BYTES}"), by_lane, ", align 8")
    b.jump("group")
    b.place("group")
    b.emit("%todo = phi i32 [ %mask, %groups ], [ %todo.next, %next ]")
    lane = b.call("i32", "llvm.cttz.i32", [("i32", "%todo"), ("i1", "false")])
    b.emit(f"%at = extractelement {WHOLE} %ats, i32 {lane}")
    same = b.mask_bits(b.value(f"icmp eq {WHOLE} %ats, {seen.splat('%at')}"))
    b.emit(f"%group.lanes = and i32 {same}, %todo")
    b.store(BYTES, "zeroinitializer", by_place, ", align 8")
    b.jump("member")
    b.place("member")
    b.emit("%members = phi i32 [ %group.lanes, %group ], [ %members.next, %member.on ]")
    b.emit("%so.far = phi i32 [ 0, %group ], [ %acting, %member.on ]")
    member = b.call("i32", "llvm.cttz.i32", [("i32", "%members"), ("i1", "false")])
    wide = b.value(f"zext i32 {member} to i64")
    place = b.load("i8", b.offset(by_lane, wide))
    b.store(
        "i8", b.value(f"trunc i32 {member} to i8"), b.offset(by_place, b.value(f"zext i8 {place} to i64"))
    )
    bit = b.value(f"shl i32 1, {b.value(f'zext i8 {place} to i32')}")
    b.emit(f"%acting = or i32 %so.far, {bit}")
    b.emit(f"%members.next = and i32 %members, {b.value('sub i32 %members, 1')}")
    b.branch(b.value("icmp eq i32 %acting, %so.far"), "slow", "member.on")  # two lanes at one place
    b.place("member.on")
    b.branch(b.value("icmp eq i32 %members.next, 0"), "part", "member")
    b.place("part")
    b.emit(f"%lanes8 = load {BYTES}, ptr {by_place}, align 8")
    words(seen)
    part_test(seen)
    b.place("next")
    b.emit("%todo.next = xor i32 %todo, %group.lanes")
    b.branch(b.value("icmp eq i32 %todo.next, 0"), "done", "group")


def _stamps(seen: Seen, which: int, *, own: bool) -> tuple[str, str]:
    """The stamps of a kind by lane, and where they are; `own` if lines are to have one for each place."""
    b = seen.b
    split, ready = b.label("split"), b.label("ready")
    words_at = b.value(f"add {WHOLE} {seen.splat(seen.of_region(which))}, %ats")
    before = seen.gather(words_at, "%lanes", "zeroinitializer")
    shared = b.value(f"icmp sge {WHOLE} {before}, zeroinitializer")
    bits = b.value(f"trunc {WHOLE} {before} to <32 x i1>")
    mixed = b.value(f"and <32 x i1> {b.value(f'xor <32 x i1> {shared}, splat (i1 true)')}, {bits}")
    if not own:  # whole lines of accesses of another size are seldom
        code = b.value(f"and {WHOLE} {before}, splat (i64 {layout.LANE_MASK})")
        limit = layout.EACH_LANE << layout.LANE_SHIFT
        unlike = b.value(f"icmp ugt {WHOLE} {code}, splat (i64 {limit})")
        shared = b.value(f"and <32 x i1> {shared}, {unlike}")
    todo = b.mask_bits(b.value(f"or <32 x i1> {shared}, {mixed}"))
    todo = b.value(f"and i32 {todo}, %mask")
    here = b.label("here")
    b.jump(here)
    b.place(here)
    b.branch(b.value(f"icmp eq i32 {todo}, 0"), ready, split)
    b.place(split)
    seen.call(spread_lanes, b.value(f"zext i32 {todo} to i64"), seen.keep(words_at))
    after = seen.gather(words_at, "%lanes", "zeroinitializer")
    b.jump(ready)
    b.place(ready)
    words = b.phi(WHOLE, (before, here), (after, split))
    inner = b.value(f"shl {WHOLE} %inners, splat (i64 3)")
    rooms = b.value(f"and {WHOLE} {words}, splat (i64 {layout.ADDRESS_MASK})")
    addresses = b.value(f"add {WHOLE} {rooms}, {inner}")
    if own:
        return seen.gather(addresses, "%lanes", "zeroinitializer"), addresses
    bare = b.value(f"and {WHOLE} {words}, splat (i64 {~layout.LANE_MASK})")
    decoded = b.value(
        f"or {WHOLE} {bare}, {b.value(f'shl {WHOLE} %inners, splat (i64 {layout.LANE_SHIFT})')}"
    )
    nobody = b.value(f"icmp eq {WHOLE} {words}, zeroinitializer")
    decoded = b.value(f"select <32 x i1> {nobody}, {NOBODY}, {WHOLE} {decoded}")
    spread = b.value(f"and <32 x i1> {b.value(f'icmp slt {WHOLE} {words}, zeroinitializer')}, %lanes")
    return seen.gather(addresses, spread, decoded), addresses


def _sets(seen: Seen) -> None:
    """Go on where lines have no sets."""
    b = seen.b
    words_at = b.value(f"add {WHOLE} {seen.splat(seen.of_region(layout.SETS))}, %ats")
    found = seen.gather(words_at, "%lanes", "zeroinitializer")
    some = b.mask_bits(b.value(f"icmp ne {WHOLE} {found}, zeroinitializer"))
    b.branch(b.value(f"icmp eq i32 {some}, 0"), "known", "slow")
    b.place("known")


def _other_readers(seen: Seen, readers: str) -> None:
    """What a write asks of readers beside the last."""
    b = seen.b
    read = b.value(f"xor i32 {b.mask_bits(seen.none(readers, WHOLE))}, -1")
    unread = b.value(f"icmp eq i32 {b.value(f'and i32 {read}, %mask')}, 0")
    few = b.value(f"icmp eq i64 {seen.of_region(layout.MORE_READS)}, 0")
    b.branch(b.value(f"or i1 {few}, {unread}"), "store", "others")
    b.place("others")
    bad = "0"
    for which in (layout.LANE_READS, layout.OTHER_READS, layout.FAR_READS):
        stamps, _ = _stamps(seen, which, own=False)
        bad = b.value(f"or i32 {bad}, {seen.odd(stamps, '%every', '%mask', written=False)}")
    b.branch(b.value(f"icmp eq i32 {bad}, 0"), "store", "slow")
    b.place("store")


def _store(seen: Seen, addresses: str) -> None:
    """Put the new stamps there. Of lanes at one place the last one's stays; they are looked at one by one."""
    b = seen.b
    pointers = b.value(f"inttoptr {WHOLE} {addresses} to <32 x ptr>")
    b.declarations.add(_SCATTER)
    b.emit(
        f"call void @llvm.masked.scatter.v32i64.v32p0({WHOLE} %every, <32 x ptr> align 8 {pointers}, "
        "<32 x i1> %lanes)"
    )
    back = seen.gather(addresses, "%lanes", "%every")
    lost = b.mask_bits(b.value(f"icmp ne {WHOLE} {back}, %every"))
    b.branch(b.value(f"icmp eq i32 {b.value(f'and i32 {lost}, %mask')}, 0"), "done", "slow")
