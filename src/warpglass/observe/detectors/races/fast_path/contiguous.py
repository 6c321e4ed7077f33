"""The test of lanes that lie side by side: by line, whole where a warp fills it, else place by place.

A whole line's word is one stamp in most kernels, so that nothing here is a vector. Where a warp touches a
part of a line its stamps are tested and stored together; where a lane accesses several places (a float4 among
floats) only whole lines are tested here.
"""

from __future__ import annotations

from .....codegen.builder import constant_vector
from ... import layout
from .shared_lines import part_test
from .stamps import BYTES, Seen, clock, end, function, no_set, note_more, remembered, start, word_at, words

_PLACES = constant_vector("i8", range(layout.LINE))


def run_test(seen: Seen) -> str:
    """The definition of a test."""
    b = seen.b
    start(seen)
    b.emit("%offset = sub i64 %first, %start")
    inside = seen.both(b.value("icmp sge i64 %last, 0"), b.value("icmp ule i64 %offset, %last"))
    b.branch(inside, "test", "slow")
    b.place("test")
    remembered(seen)
    clock(seen)
    _lines(seen)
    b.place("line")
    _one_line(seen)
    b.place("whole")
    (_write_whole if seen.test.write else _read_whole)(seen)
    b.place("part")
    b.branch("%single", "mixed", "slow")
    b.place("mixed")
    ahead = b.value(f"trunc i64 {b.value('sub i64 %before, %inner')} to i8")
    moved = b.value(f"add {BYTES} {b.splat('i8', ahead)}, {_PLACES}")
    b.emit(f"%lanes8 = and {BYTES} {moved}, splat (i8 {layout.LANES - 1})")
    part_test(seen)
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
    words(seen)
    b.branch("%filled", "whole", "part")


# ---------------------------------------------------------------------------------------- whole lines
def _read_whole(seen: Seen) -> None:
    b = seen.b
    written = seen.writer_fine("%w", "%new")
    fine = seen.fine("%r", "%new", seen.none("%r"))
    b.branch(seen.both(written, fine), "keep", "slow" if seen.exact else "reread")
    b.place("keep")
    b.store("i64", "%new", "%r.p")
    b.jump("next")
    if not seen.exact:
        _read_again(seen, written)


def _read_again(seen: Seen, written: str) -> None:
    """The line has other readers, two of whom are remembered where only barriers order threads."""
    b = seen.b
    b.place("reread")  # another warp or block has read all of it
    others = seen.pointer(word_at(seen, layout.OTHER_READS))
    other = b.load("i64", others)
    far = seen.pointer(word_at(seen, layout.FAR_READS))
    differ = b.value(f"and i64 {b.value('xor i64 %r, %new')}, %identity")
    apart = b.value(f"icmp ne i64 {b.value(f'and i64 {differ}, {~layout.LANE_MASK}')}, 0")
    near = b.value("icmp uge i64 %r, %tag")
    left = seen.both(near, b.value(f"icmp uge i64 {other}, %low"), b.value(f"icmp ult i64 {other}, %tag"))
    whole = [b.value(f"icmp sge i64 {one}, 0") for one in ("%r", other, b.load("i64", far))]
    b.branch(seen.both(written, apart, *whole), "more", "part")
    b.place("more")
    noted = b.value(f"select i1 {left}, i64 {layout.SOME | layout.FAR}, i64 {layout.SOME}")
    note_more(seen, noted)
    b.store("i64", "%r", others)
    b.store("i64", "%new", "%r.p")
    b.branch(left, "farther", "next")
    b.place("farther")
    b.store("i64", other, far)
    b.jump("next")


def _write_whole(seen: Seen) -> None:
    b = seen.b
    unread = seen.none("%r")
    b.branch(seen.both(seen.writer_fine("%w", "%new"), seen.fine("%r", "%new", unread)), "readers", "part")
    b.place("readers")
    b.branch(no_set(seen), "known", "slow")
    b.place("known")
    few = b.value(f"icmp eq i64 {seen.of_region(layout.MORE_READS)}, 0")
    b.branch(b.value(f"or i1 {few}, {unread}"), "store", "others")
    b.place("others")
    fine: list[str] = []
    for which in (layout.LANE_READS, layout.OTHER_READS, layout.FAR_READS):
        word = b.load("i64", seen.pointer(word_at(seen, which)))
        fine.append(seen.fine(word, "%new", seen.none(word)))
    b.branch(seen.both(*fine), "store", "part")
    b.place("store")
    b.store("i64", "%new", "%w.p")
    b.jump("next")
