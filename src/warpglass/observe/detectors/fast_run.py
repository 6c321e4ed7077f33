"""The test of lanes that lie side by side: by line, whole where a warp fills it, else place by place.

A whole line's word is one stamp in most kernels, so that nothing here is a vector. Where a warp touches a
part of a line its stamps are tested and stored together; where a lane accesses several places (a float4 among
floats) only whole lines are tested here.
"""

from __future__ import annotations

from . import layout
from .fast import EACH_LANES, NOBODY, WHOLE, Seen, clock, end, function, start


def run_test(seen: Seen) -> str:
    """The definition of a test."""
    b = seen.b
    start(seen)
    b.emit("%offset = sub i64 %within, %start")
    inside = seen.both(b.value("icmp sge i64 %last, 0"), b.value("icmp ule i64 %offset, %last"))
    b.branch(inside, "test", "slow")
    b.place("test")
    clock(seen)
    _lines(seen)
    b.place("line")
    _one_line(seen)
    b.place("whole")
    (_write_whole if seen.test.write else _read_whole)(seen)
    b.place("part")
    b.branch("%single", "places", "slow")
    b.place("places")
    (_write_part if seen.test.write else _read_part)(seen)
    b.place("next")
    b.emit("%line.next = add i64 %line.number, 1")
    b.branch(b.value("icmp ugt i64 %line.next, %line.last"), "done", "line")
    end(seen)
    return function(seen)


def _lines(seen: Seen) -> None:
    """The lines of a run: `%line.last` is the last one's number, `%parts` has the lanes in each."""
    b = seen.b
    b.emit(f"%log = sub i64 {seen.test.log}, %shift")  # of the places of each lane
    place = b.value("lshr i64 %offset, %shift")
    b.emit(f"%inner = and i64 {place}, {layout.LINE - 1}")
    b.emit(f"%line.first = lshr i64 {place}, {layout.LINE_SHIFT}")
    places = b.value(f"shl i64 {layout.LINE}, %log")
    beyond = b.value(f"add i64 %inner, {b.value(f'sub i64 {places}, 1')}")
    b.emit(f"%line.last = lshr i64 {beyond}, {layout.LINE_SHIFT}")
    b.emit("%single = icmp eq i64 %log, 0")
    everyone = b.value("icmp eq i32 %mask, -1")
    b.emit(f"%filled = and i1 {everyone}, {b.value('icmp eq i64 %inner, 0')}")
    wide = b.value("zext i32 %mask to i64")
    b.emit(f"%parts = shl i64 {wide}, %inner")
    b.branch(b.value("or i1 %filled, %single"), "lines", "slow")
    b.place("lines")
    b.jump("line")


def _one_line(seen: Seen) -> None:
    """One of the lines: which of its places are accessed, the words for it, the new stamp of all of it."""
    b = seen.b
    b.emit("%line.number = phi i64 [ 0, %lines ], [ %line.next, %next ]")
    b.emit(f"%before = shl i64 %line.number, {layout.LINE_SHIFT}")
    part = b.value(f"trunc i64 {b.value('lshr i64 %parts, %before')} to i32")
    b.emit(f"%acting = select i1 %filled, i32 -1, i32 {part}")
    b.emit(f"%at = shl i64 {b.value('add i64 %line.first, %line.number')}, 3")
    code = b.value(f"or i64 {b.value('shl i64 1, %log')}, %line.number")
    b.emit(f"%new = or i64 %prefix, {b.value(f'shl i64 {code}, {layout.LANE_SHIFT}')}")
    b.branch(b.value("icmp eq i32 %acting, 0"), "next", "some")
    b.place("some")
    for name, which in (("w", layout.WRITES), ("r", layout.READS)):
        b.emit(f"%{name}.at = add i64 {seen.of_region(which)}, %at")
        b.emit(f"%{name}.p = inttoptr i64 %{name}.at to ptr")
        b.emit(f"%{name} = load i64, ptr %{name}.p")
    b.branch("%filled", "whole", "part")


def _word_at(seen: Seen, which: int) -> str:
    """The address of the line's word of a kind."""
    return seen.b.value(f"add i64 {seen.of_region(which)}, %at")


# ---------------------------------------------------------------------------------------- whole lines
def _read_whole(seen: Seen) -> None:
    b = seen.b
    written = seen.writer_fine("%w", "%new")
    fine = seen.fine("%r", "%new", seen.none("%r"))
    b.branch(seen.both(written, fine), "keep", "reread")
    b.place("keep")
    b.store("i64", "%new", "%r.p")
    b.jump("next")
    b.place("reread")  # another warp or block has read all of it
    others = seen.pointer(_word_at(seen, layout.OTHER_READS))
    other = b.load("i64", others)
    far = seen.pointer(_word_at(seen, layout.FAR_READS))
    differ = b.value(f"and i64 {b.value('xor i64 %r, %new')}, %identity")
    apart = b.value(f"icmp ne i64 {b.value(f'and i64 {differ}, {~layout.LANE_MASK}')}, 0")
    near = b.value("icmp uge i64 %r, %tag")
    left = seen.both(near, b.value(f"icmp uge i64 {other}, %low"), b.value(f"icmp ult i64 {other}, %tag"))
    whole = [b.value(f"icmp sge i64 {one}, 0") for one in ("%r", other, b.load("i64", far))]
    b.branch(seen.both(written, apart, *whole), "more", "part")
    b.place("more")
    noted = b.value(f"select i1 {left}, i64 {layout.SOME | layout.FAR}, i64 {layout.SOME}")
    _note_more(seen, noted)
    b.store("i64", "%r", others)
    b.store("i64", "%new", "%r.p")
    b.branch(left, "farther", "next")
    b.place("farther")
    b.store("i64", other, far)
    b.jump("next")


def _note_more(seen: Seen, what: str) -> None:
    """Note in the region's row that READS are not all."""
    b = seen.b
    before = seen.of_region(layout.MORE_READS)
    b.store("i64", b.value(f"or i64 {before}, {what}"), b.offset("%row", 8 * layout.MORE_READS))


def _write_whole(seen: Seen) -> None:
    b = seen.b
    unread = seen.none("%r")
    b.branch(seen.both(seen.writer_fine("%w", "%new"), seen.fine("%r", "%new", unread)), "readers", "part")
    b.place("readers")
    few = b.value(f"icmp eq i64 {seen.of_region(layout.MORE_READS)}, 0")
    b.branch(b.value(f"or i1 {few}, {unread}"), "store", "others")
    b.place("others")
    fine: list[str] = []
    for which in (layout.LANE_READS, layout.OTHER_READS, layout.FAR_READS):
        word = b.load("i64", seen.pointer(_word_at(seen, which)))
        fine.append(seen.fine(word, "%new", seen.none(word)))
    b.branch(seen.both(*fine), "store", "part")
    b.place("store")
    b.store("i64", "%new", "%w.p")
    b.jump("next")


# ---------------------------------------------------------------------------------------- parts of lines
def _new_stamps(seen: Seen) -> None:
    """`%news`: the new stamps by place."""
    b = seen.b
    ahead = b.value("sub i64 %before, %inner")
    first = b.value(f"add i64 %prefix, {b.value(f'shl i64 {ahead}, {layout.LANE_SHIFT}')}")
    b.emit(f"%news = add {WHOLE} {seen.splat(first)}, {EACH_LANES}")


def _stamps(seen: Seen, at: str) -> str:
    """The stamps of a line whose word is at an address."""
    b = seen.b
    split, ready, own, shared, on = (b.label(name) for name in ("split", "ready", "own", "shared", "on"))
    pointer = seen.pointer(at)
    word = b.load("i64", pointer)
    code = b.value(f"and i64 {word}, {layout.LANE_MASK}")
    unlike = b.value(f"icmp ugt i64 {code}, {layout.EACH_LANE << layout.LANE_SHIFT}")
    b.branch(seen.both(unlike, b.value(f"icmp sgt i64 {word}, 0")), split, ready)
    b.place(split)
    seen.call("spread", at)
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
    b.branch(b.value(f"icmp slt i64 {b.load('i64', pointer)}, 0"), ready, split)
    b.place(split)
    seen.call("spread", at)
    b.jump(ready)
    b.place(ready)
    places = _places(seen, b.load("i64", pointer))
    lanes = b.mask_vector(mask)
    args = [(WHOLE, stamps), ("ptr align 8", places), ("<32 x i1>", lanes)]
    b.call("void", "llvm.masked.store.v32i64.p0", args)


def _write_part(seen: Seen) -> None:
    b = seen.b
    _new_stamps(seen)
    bad = seen.odd(_stamps(seen, "%w.at"), "%news", "%acting", written=True)
    readers = _stamps(seen, "%r.at")
    bad = b.value(f"or i32 {bad}, {seen.odd(readers, '%news', '%acting', written=False)}")
    read = b.value(f"xor i32 {b.mask_bits(seen.none(readers, WHOLE))}, -1")
    unread = b.value(f"icmp eq i32 {b.value(f'and i32 {read}, %acting')}, 0")
    few = b.value(f"icmp eq i64 {seen.of_region(layout.MORE_READS)}, 0")
    alone = b.value(f"or i1 {few}, {unread}")
    b.branch(b.value(f"icmp eq i32 {bad}, 0"), "part.readers", "slow")
    b.place("part.readers")
    b.branch(alone, "part.store", "part.others")
    b.place("part.others")
    bad = "0"
    for which in (layout.LANE_READS, layout.OTHER_READS, layout.FAR_READS):
        stamps = _stamps(seen, _word_at(seen, which))
        bad = b.value(f"or i32 {bad}, {seen.odd(stamps, '%news', '%acting', written=False)}")
    b.branch(b.value(f"icmp eq i32 {bad}, 0"), "part.store", "slow")
    b.place("part.store")
    _put(seen, "%w.at", "%news", "%acting")
    b.jump("next")


def _read_part(seen: Seen) -> None:
    b = seen.b
    _new_stamps(seen)
    bad = seen.odd(_stamps(seen, "%w.at"), "%news", "%acting", written=True)
    b.branch(b.value(f"icmp eq i32 {bad}, 0"), "part.readers", "slow")
    b.place("part.readers")
    readers = _stamps(seen, "%r.at")
    met = seen.odd(readers, "%news", "%acting", written=False)
    b.branch(b.value(f"icmp eq i32 {met}, 0"), "part.keep", "part.more")
    b.place("part.keep")
    _put(seen, "%r.at", "%news", "%acting")
    b.jump("next")
    b.place("part.more")
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
    others = _word_at(seen, layout.OTHER_READS)
    stamps = _stamps(seen, others)
    tags = seen.splat("%tag")
    near = b.value(f"icmp uge {WHOLE} {readers}, {tags}")
    some = b.value(f"xor <32 x i1> {seen.none(stamps, WHOLE)}, splat (i1 true)")
    old = b.value(f"icmp ult {WHOLE} {stamps}, {tags}")
    left = b.value(f"and <32 x i1> {b.value(f'and <32 x i1> {near}, {some}')}, {old}")
    far = b.value(f"and i32 {b.mask_bits(left)}, {outer}")
    b.branch(b.value(f"icmp eq i32 {far}, 0"), "part.near", "slow")
    b.place("part.near")
    _note_more(seen, str(layout.SOME))
    b.branch(b.value(f"icmp eq i32 {outer}, 0"), "part.lanes", "part.outer")
    b.place("part.outer")
    _put(seen, others, readers, outer)
    b.jump("part.lanes")
    b.place("part.lanes")
    b.branch(b.value(f"icmp eq i32 {lanes}, 0"), "part.last", "part.inner")
    b.place("part.inner")
    _put(seen, _word_at(seen, layout.LANE_READS), "%news", lanes)
    b.jump("part.last")
    b.place("part.last")
    kept = b.value(f"and i32 %acting, {b.value(f'xor i32 {lanes}, -1')}")
    _put(seen, "%r.at", "%news", kept)
    b.jump("next")
