"""The test of lanes at any addresses: every one has a line of its own, whose stamps are gathered."""

from __future__ import annotations

from . import layout
from .fast import NOBODY, WHOLE, WINDOW, Seen, clock, end, function, start


def any_test(seen: Seen) -> str:
    """The definition of a test."""
    b, write = seen.b, seen.test.write
    start(seen)
    _inside(seen)
    b.place("test")
    clock(seen)
    _lines(seen)
    lanes = "<" + ", ".join(f"i64 {lane << layout.LANE_SHIFT}" for lane in range(32)) + ">"
    b.emit(f"%news = or {WHOLE} {seen.splat('%prefix')}, {lanes}")
    writers, written = _stamps(seen, layout.WRITES, own=write)
    readers, read = _stamps(seen, layout.READS, own=not write)
    bad = seen.odd(writers, "%news", "%mask", written=True)
    bad = b.value(f"or i32 {bad}, {seen.odd(readers, '%news', '%mask', written=False)}")
    b.branch(b.value(f"icmp eq i32 {bad}, 0"), "readers", "slow")
    b.place("readers")
    if write:
        _other_readers(seen, readers)
    _store(seen, written if write else read)
    end(seen)
    return function(seen)


def _inside(seen: Seen) -> None:
    """Whether all active lanes are within the first one's region, which has stamps of their size."""
    b = seen.b
    within = b.value(f"and {WHOLE} %address, splat (i64 {WINDOW})")
    b.emit(f"%offsets = sub {WHOLE} {within}, {seen.splat('%start')}")
    far = b.value(f"icmp ugt {WHOLE} %offsets, {seen.splat('%last')}")
    windows = b.value(f"lshr {WHOLE} %address, splat (i64 48)")
    astray = b.value(f"icmp ne {WHOLE} {windows}, {seen.splat('%window')}")
    out = b.mask_bits(b.value(f"or <32 x i1> {far}, {astray}"))
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


def _gather(seen: Seen, addresses: str, lanes: str, otherwise: str) -> str:
    b = seen.b
    pointers = b.value(f"inttoptr {WHOLE} {addresses} to <32 x ptr>")
    return b.value(
        f"call {WHOLE} @llvm.masked.gather.v32i64.v32p0("
        f"<32 x ptr> align 8 {pointers}, <32 x i1> {lanes}, {WHOLE} {otherwise})"
    )


def _stamps(seen: Seen, which: int, *, own: bool) -> tuple[str, str]:
    """The stamps of a kind by lane, and where they are; `own` if lines are to have one for each place."""
    b = seen.b
    split, ready = b.label("split"), b.label("ready")
    words_at = b.value(f"add {WHOLE} {seen.splat(seen.of_region(which))}, %ats")
    before = _gather(seen, words_at, "%lanes", "zeroinitializer")
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
    room = b.offset("%counters", 8 * seen.addresses)
    b.store(WHOLE, words_at, room, ", align 8")
    seen.call("spread_lanes", b.value(f"zext i32 {todo} to i64"), b.value(f"ptrtoint ptr {room} to i64"))
    after = _gather(seen, words_at, "%lanes", "zeroinitializer")
    b.jump(ready)
    b.place(ready)
    words = b.phi(WHOLE, (before, here), (after, split))
    inner = b.value(f"shl {WHOLE} %inners, splat (i64 3)")
    rooms = b.value(f"and {WHOLE} {words}, splat (i64 {layout.ADDRESS_MASK})")
    addresses = b.value(f"add {WHOLE} {rooms}, {inner}")
    if own:
        return _gather(seen, addresses, "%lanes", "zeroinitializer"), addresses
    bare = b.value(f"and {WHOLE} {words}, splat (i64 {~layout.LANE_MASK})")
    decoded = b.value(
        f"or {WHOLE} {bare}, {b.value(f'shl {WHOLE} %inners, splat (i64 {layout.LANE_SHIFT})')}"
    )
    nobody = b.value(f"icmp eq {WHOLE} {words}, zeroinitializer")
    decoded = b.value(f"select <32 x i1> {nobody}, {NOBODY}, {WHOLE} {decoded}")
    spread = b.value(f"and <32 x i1> {b.value(f'icmp slt {WHOLE} {words}, zeroinitializer')}, %lanes")
    return _gather(seen, addresses, spread, decoded), addresses


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
        bad = b.value(f"or i32 {bad}, {seen.odd(stamps, '%news', '%mask', written=False)}")
    b.branch(b.value(f"icmp eq i32 {bad}, 0"), "store", "slow")
    b.place("store")


def _store(seen: Seen, addresses: str) -> None:
    """Put the new stamps there. Of lanes at one place the last one's stays; they are looked at one by one."""
    b = seen.b
    pointers = b.value(f"inttoptr {WHOLE} {addresses} to <32 x ptr>")
    b.emit(
        f"call void @llvm.masked.scatter.v32i64.v32p0({WHOLE} %news, <32 x ptr> align 8 {pointers}, "
        "<32 x i1> %lanes)"
    )
    back = _gather(seen, addresses, "%lanes", "%news")
    lost = b.mask_bits(b.value(f"icmp ne {WHOLE} {back}, %news"))
    b.branch(b.value(f"icmp eq i32 {b.value(f'and i32 {lost}, %mask')}, 0"), "done", "slow")
