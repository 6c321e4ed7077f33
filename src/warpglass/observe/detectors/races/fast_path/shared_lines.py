"""A warp's part of a line that has one stamp or a palette: what counts are the few stamps, not the 32 places.

Where a line has a stamp for each place, it goes on in split_lines.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from .....codegen.builder import constant_vector
from ... import layout
from ..shadow_lines import mix
from .split_lines import read_places, write_places
from .stamps import BYTES, Seen, no_set, note_more, word_at

_STAMPS = f"<{layout.ENTRIES} x i64>"
_FLAGS = f"<{layout.ENTRIES} x i1>"
_ONE_STAMP = constant_vector("i8", (1 << layout.ENTRY_SHIFT | place for place in range(layout.LINE)))
_NUMBERS = (1 << layout.ENTRIES) - 2  # but number 0, which is no stamp
PUT = "wg_put_stamp"


@dataclass(frozen=True, slots=True)
class _Line:
    """A line's stamps without lanes, the places' bytes, and sets of the stamps, a bit each.

    `wrong` ones are unordered and of other warps, `near` ones unordered and of this warp, `none` are none.
    """

    stamps: str
    bytes: str
    wrong: str
    near: str
    none: str


def part_test(seen: Seen) -> None:
    """Test the places `%acting` of the line at `%at`, whose lanes are `%lanes8`; goes to `next` or `slow`."""
    b = seen.b
    b.emit(f"%warps = and i64 %identity, {~layout.LANE_MASK}")
    (_write_mixed if seen.test.write else _read_mixed)(seen)
    b.place("places")
    (write_places if seen.test.write else read_places)(seen)


def _read_mixed(seen: Seen) -> None:
    """The test of a read."""
    b = seen.b
    bad = _odd(seen, "%w.at", written=True)
    b.branch(b.value(f"icmp eq i32 {bad}, 0"), "mixed.readers", "slow")
    b.place("mixed.readers")
    if seen.test.run:  # the line may say so already
        same = b.value("icmp eq i64 %r, %new")
        b.branch(seen.both(same, b.value("icmp eq i64 %inner, 0")), "next", "mixed.differ")
        b.place("mixed.differ")
    line = _line(seen, "%r.at", written=False)
    some = b.value(f"or i8 {line.wrong}, {line.near}")
    b.branch(b.value(f"icmp eq i8 {some}, 0"), "mixed.keep", "mixed.met")
    b.place("mixed.met")
    outer = b.value(f"and i32 {_places_of(seen, line, line.wrong)}, %acting")
    inner = _of_other_lanes(seen, line, line.near)
    alone = b.value(f"icmp eq i32 {b.value(f'or i32 {outer}, {inner}')}, 0")
    b.branch(alone, "mixed.keep", "slow" if seen.exact else "mixed.more")
    b.place("mixed.keep")
    _set(seen, "%r.at", "r")
    if seen.exact:
        return
    b.place("mixed.more")
    note_more(seen, str(layout.SOME))
    _keep_others(seen, line, outer)
    _keep_lanes(seen, line)


def _keep_others(seen: Seen, line: _Line, outer: str) -> None:
    """Readers of other warps go to OTHER_READS, stamp by stamp."""
    b = seen.b
    b.branch(b.value(f"icmp eq i32 {outer}, 0"), "mixed.lanes", "mixed.outer")
    b.place("mixed.outer")
    at = word_at(seen, layout.OTHER_READS)
    others = _line(seen, at, written=False)
    # A reader of this block that takes the place of one of another block: both are to be kept.
    tags = seen.b.splat("i64", "%tag", layout.ENTRIES)
    old = b.value(f"icmp ult {_STAMPS} {others.stamps}, {tags}")
    old = b.value(f"and i8 {b.mask_bits(old, layout.ENTRIES)}, {b.value(f'xor i8 {others.none}, -1')}")
    old = b.value(f"and i8 {old}, {_NUMBERS}")
    own = b.mask_bits(b.value(f"icmp uge {_STAMPS} {line.stamps}, {tags}"), layout.ENTRIES)
    own = b.value(f"and i8 {own}, {line.wrong}")
    far = b.value(f"and i32 {_places_of(seen, others, old)}, {_places_of(seen, line, own)}")
    far = b.value(f"and i32 {far}, {outer}")
    b.jump("mixed.far")
    b.place("mixed.far")
    b.branch(b.value(f"icmp eq i32 {far}, 0"), "mixed.stamp", "slow")
    b.place("mixed.stamp")
    b.emit(f"%left = phi i8 [ {line.wrong}, %mixed.far ], [ %left.next, %mixed.stamped ]")
    number = b.call("i8", "llvm.cttz.i8", [("i8", "%left"), ("i1", "false")])
    only = b.value(f"shl i8 1, {number}")
    places = b.value(f"and i32 {_places_of(seen, line, only)}, {outer}")
    stamp = b.value(f"extractelement {_STAMPS} {line.stamps}, i8 {number}")
    lanes = b.value(f"and {BYTES} {line.bytes}, splat (i8 {layout.LANES - 1})")
    b.branch(b.value(f"icmp eq i32 {places}, 0"), "mixed.stamped", "mixed.store")
    b.place("mixed.store")
    _put(seen, at, stamp, lanes, places, "mixed.stamped")
    b.place("mixed.stamped")
    b.emit(f"%left.next = and i8 %left, {b.value('sub i8 %left, 1')}")
    b.branch(b.value("icmp eq i8 %left.next, 0"), "mixed.lanes", "mixed.stamp")


def _keep_lanes(seen: Seen, line: _Line) -> None:
    """Other lanes of the warp that read at the same time stay, and this one stands beside them."""
    b = seen.b
    b.place("mixed.lanes")
    differ = b.value(f"xor {_STAMPS} {line.stamps}, {b.splat('i64', '%prefix', layout.ENTRIES)}")
    late = b.value(f"icmp ult {_STAMPS} {differ}, splat (i64 {1 << layout.TIME_SHIFT})")
    late = b.value(f"and i8 {b.mask_bits(late, layout.ENTRIES)}, {line.near}")
    beside = _of_other_lanes(seen, line, late)
    b.branch(b.value(f"icmp eq i32 {beside}, 0"), "mixed.last", "mixed.beside")
    b.place("mixed.beside")
    _put(seen, word_at(seen, layout.LANE_READS), "%prefix", "%lanes8", beside, "mixed.last")
    b.place("mixed.last")
    kept = b.value(f"and i32 %acting, {b.value(f'xor i32 {beside}, -1')}")
    _put(seen, "%r.at", "%prefix", "%lanes8", kept, "next")


def _write_mixed(seen: Seen) -> None:
    """The test of a write."""
    b = seen.b
    bad = _odd(seen, "%w.at", written=True)
    bad = b.value(f"or i32 {bad}, {_odd(seen, '%r.at', written=False)}")
    b.branch(b.value(f"icmp eq i32 {bad}, 0"), "mixed.readers", "slow")
    b.place("mixed.readers")
    b.branch(no_set(seen), "mixed.known", "slow")
    b.place("mixed.known")
    few = b.value(f"icmp eq i64 {seen.of_region(layout.MORE_READS)}, 0")
    b.branch(few, "mixed.set", "mixed.others")
    b.place("mixed.others")
    bad = "0"
    for which in (layout.LANE_READS, layout.OTHER_READS, layout.FAR_READS):
        bad = b.value(f"or i32 {bad}, {_odd(seen, word_at(seen, which), written=False)}")
    b.branch(b.value(f"icmp eq i32 {bad}, 0"), "mixed.set", "slow")
    b.place("mixed.set")
    _set(seen, "%w.at", "w")


# ---------------------------------------------------------------------------------------- looking at lines
def _line(seen: Seen, at: str, *, written: bool) -> _Line:
    """The line whose word is at an address; `written` if stamps are of writers. Wide ones go elsewhere."""
    b = seen.b
    other, ready, held, mixed, whole, on = (
        b.label(name) for name in ("other", "ready", "held", "mixed", "whole", "on")
    )
    pointer = seen.pointer(at)
    word = b.load("i64", pointer)
    code = b.value(f"and i64 {word}, {layout.LANE_MASK}")
    unlike = b.value(f"icmp ugt i64 {code}, {layout.EACH_LANE << layout.LANE_SHIFT}")
    b.branch(seen.both(unlike, b.value(f"icmp sgt i64 {word}, 0")), other, ready)
    b.place(other)  # lanes with several places each: a palette can say that, too
    seen.call(mix, at)
    b.jump(ready)
    b.place(ready)
    word = b.load("i64", pointer)
    b.branch(b.value(f"icmp slt i64 {word}, 0"), held, whole)
    b.place(held)
    marked = b.value(f"and i64 {word}, {layout.PALETTE}")
    b.branch(b.value(f"icmp eq i64 {marked}, 0"), "places", mixed)
    b.place(mixed)
    palette = seen.pointer(b.value(f"and i64 {word}, {layout.ADDRESS_MASK}"))
    its_stamps = b.load(_STAMPS, palette, ", align 8")
    its_bytes = b.load(BYTES, b.offset(palette, layout.ENTRY_BYTES), ", align 8")
    b.jump(on)
    b.place(whole)
    bare = b.value(f"and i64 {word}, {~layout.LANE_MASK}")
    one_stamp = b.value(f"insertelement {_STAMPS} zeroinitializer, i64 {bare}, i32 1")
    some = b.value(f"icmp ne i64 {word}, 0")
    one_byte = b.value(f"select i1 {some}, {BYTES} {_ONE_STAMP}, {BYTES} zeroinitializer")
    b.jump(on)
    b.place(on)
    stamps = b.phi(_STAMPS, (its_stamps, mixed), (one_stamp, whole))
    places = b.phi(BYTES, (its_bytes, mixed), (one_byte, whole))
    return _Line(stamps, places, *_classes(seen, stamps, written=written))


def _classes(seen: Seen, stamps: str, *, written: bool) -> tuple[str, str, str]:
    """The sets of a line."""
    b, count = seen.b, layout.ENTRIES
    none = b.value(f"icmp ult {_STAMPS} {stamps}, {b.splat('i64', '%low', count)}")
    since = b.value(f"sub {_STAMPS} {stamps}, {b.splat('i64', '%tag', count)}")
    before = b.value(f"icmp ult {_STAMPS} {since}, {b.splat('i64', '%reach', count)}")
    differ = b.value(f"xor {_STAMPS} {stamps}, {b.splat('i64', '%prefix', count)}")
    differ = b.value(f"and {_STAMPS} {differ}, {b.splat('i64', '%warps', count)}")
    same = b.value(f"icmp eq {_STAMPS} {differ}, zeroinitializer")
    fine = b.value(f"xor i8 {b.mask_bits(b.value(f'or {_FLAGS} {none}, {before}'), count)}, -1")
    same, none = b.mask_bits(same, count), b.mask_bits(none, count)
    wrong = b.value(f"and i8 {fine}, {b.value(f'xor i8 {same}, -1')}")
    if written:  # a strong write may hide another
        strength = b.value(f"and {_STAMPS} {stamps}, splat (i64 {layout.STRENGTHS})")
        strong = b.mask_bits(b.value(f"icmp ne {_STAMPS} {strength}, zeroinitializer"), count)
        hiding = b.value(f"and i8 {strong}, {b.value(f'xor i8 {none}, -1')}")
        wrong = b.value(f"or i8 {wrong}, {hiding}")
    near = b.value(f"and i8 {fine}, {same}")
    return b.value(f"and i8 {wrong}, {_NUMBERS}"), b.value(f"and i8 {near}, {_NUMBERS}"), none


def _odd(seen: Seen, at: str, *, written: bool) -> str:
    """The acting places whose stamp is one to look at."""
    b = seen.b
    some, look, on, here, first = (b.label(name) for name in ("some", "look", "on", "here", "first"))
    nobody = b.value(f"icmp eq i64 {b.load('i64', seen.pointer(at))}, 0")
    if written and not seen.test.write:
        nobody = seen.both(nobody, b.value("xor i1 %fresh, true"))
    b.jump(first)
    b.place(first)
    b.branch(nobody, on, some)
    b.place(some)
    line = _line(seen, at, written=written)
    wrong = line.wrong
    if written and not seen.test.write:  # nobody has written what is read
        empty = b.value(f"or i8 {line.none}, 1")
        wrong = b.value(f"or i8 {wrong}, {b.value(f'select i1 %fresh, i8 {empty}, i8 0')}")
    doubtful = b.value(f"or i8 {wrong}, {line.near}")
    b.jump(here)
    b.place(here)
    b.branch(b.value(f"icmp eq i8 {doubtful}, 0"), on, look)
    b.place(look)
    outer = b.value(f"and i32 {_places_of(seen, line, wrong)}, %acting")
    odd = b.value(f"or i32 {outer}, {_of_other_lanes(seen, line, line.near)}")
    b.jump(on)
    b.place(on)
    return b.phi("i32", ("0", first), ("0", here), (odd, look))


def _places_of(seen: Seen, line: _Line, chosen: str) -> str:
    """The places that have one of a set of stamps."""
    b = seen.b
    numbers = b.value(f"lshr {BYTES} {line.bytes}, splat (i8 {layout.ENTRY_SHIFT})")
    wide = b.value(f"zext {BYTES} {numbers} to <32 x i32>")
    every = b.splat("i32", b.value(f"zext i8 {chosen} to i32"))
    found = b.value(f"trunc <32 x i32> {b.value(f'lshr <32 x i32> {every}, {wide}')} to <32 x i1>")
    return b.mask_bits(found)


def _of_other_lanes(seen: Seen, line: _Line, chosen: str) -> str:
    """The acting places that have one of a set of stamps with another lane than the one there now."""
    b = seen.b
    lanes = b.value(f"and {BYTES} {line.bytes}, splat (i8 {layout.LANES - 1})")
    other = b.mask_bits(b.value(f"icmp ne {BYTES} {lanes}, %lanes8"))
    return b.value(f"and i32 {b.value(f'and i32 {_places_of(seen, line, chosen)}, {other}')}, %acting")


# ---------------------------------------------------------------------------------------- changing lines
def _set(seen: Seen, at: str, name: str) -> None:
    """Put the new stamp at the acting places of a line; a line that is accessed whole has one stamp again."""
    b = seen.b
    if seen.test.run:
        b.branch("%filled", f"{name}.fill", f"{name}.put")
        b.place(f"{name}.put")
    _put(seen, at, "%prefix", "%lanes8", "%acting", "next")
    if not seen.test.run:
        return
    b.place(f"{name}.fill")
    pointer = seen.pointer(at)
    word = b.load("i64", pointer)
    b.store("i64", "%new", pointer)
    b.branch(b.value(f"icmp slt i64 {word}, 0"), f"{name}.free", "next")
    b.place(f"{name}.free")
    palette = b.value(f"and i64 {word}, {layout.ADDRESS_MASK}")
    spare = b.offset("%S", 8 * layout.SPARE)
    b.store("i64", b.load("i64", spare), seen.pointer(palette))
    b.store("i64", palette, spare)
    b.jump("next")


def _put(seen: Seen, at: str, stamp: str, lanes: str, places: str, after: str) -> None:
    b = seen.b
    args = [("ptr", "%counters"), ("i64", "%state"), ("i64", at), ("i64", stamp)]
    done = b.call("i1", PUT, [*args, (BYTES, lanes), ("i32", places)])
    b.branch(done, after, "slow")


def put_stamp(mix: int, declarations: set[str]) -> str:
    """The function that puts a stamp at places of a line, with a lane for each; false if there is no palette.

    `mix` is the worker word of the compiled function that makes room for a stamp.
    """
    declarations.add("declare i8 @llvm.cttz.i8(i8, i1)")
    return f"""
define internal i1 @{PUT}(
  ptr %counters, i64 %state, i64 %at, i64 %stamp, {BYTES} %lanes, i32 %places
) noinline #0 {{
entry:
  %p = inttoptr i64 %at to ptr
  %mix.p = getelementptr i64, ptr %counters, i64 {mix}
  %first = load i64, ptr %p
  %held = icmp slt i64 %first, 0
  br i1 %held, label %ready, label %make
make:
  %mix = load ptr, ptr %mix.p
  call void %mix(i64 %state, i64 %at)
  br label %ready
ready:
  %word = load i64, ptr %p
  %marked = and i64 %word, {layout.PALETTE}
  %wide = icmp eq i64 %marked, 0
  br i1 %wide, label %failed, label %look
look:
  %address = and i64 %word, {layout.ADDRESS_MASK}
  %palette = inttoptr i64 %address to ptr
  %stamps = load {_STAMPS}, ptr %palette, align 8
  %one = insertelement {_STAMPS} poison, i64 %stamp, i32 0
  %every = shufflevector {_STAMPS} %one, {_STAMPS} poison, <{layout.ENTRIES} x i32> zeroinitializer
  %equal = icmp eq {_STAMPS} %stamps, %every
  %bits = bitcast {_FLAGS} %equal to i8
  %there = and i8 %bits, {_NUMBERS}
  %known = icmp ne i8 %there, 0
  br i1 %known, label %old, label %new
old:
  %old.8 = call i8 @llvm.cttz.i8(i8 %there, i1 true)
  %old.number = zext i8 %old.8 to i64
  br label %store
new:
  %count = extractelement {_STAMPS} %stamps, i32 0
  %full = icmp eq i64 %count, {layout.ENTRIES}
  br i1 %full, label %drop, label %add
drop:
  %drop.mix = load ptr, ptr %mix.p
  call void %drop.mix(i64 %state, i64 %at)
  %later = load i64, ptr %p
  %left = load i64, ptr %palette
  %stays = icmp eq i64 %later, %word
  br i1 %stays, label %add, label %failed
add:
  %number = phi i64 [ %count, %new ], [ %left, %drop ]
  %place = getelementptr i64, ptr %palette, i64 %number
  store i64 %stamp, ptr %place
  %more = add i64 %number, 1
  store i64 %more, ptr %palette
  br label %store
store:
  %chosen = phi i64 [ %old.number, %old ], [ %number, %add ]
  %high = shl i64 %chosen, {layout.ENTRY_SHIFT}
  %high.8 = trunc i64 %high to i8
  %high.1 = insertelement {BYTES} poison, i8 %high.8, i32 0
  %highs = shufflevector {BYTES} %high.1, {BYTES} poison, <{layout.LINE} x i32> zeroinitializer
  %its = or {BYTES} %lanes, %highs
  %bytes.p = getelementptr i8, ptr %palette, i64 {layout.ENTRY_BYTES}
  %bytes = load {BYTES}, ptr %bytes.p, align 8
  %set = bitcast i32 %places to <{layout.LINE} x i1>
  %after = select <{layout.LINE} x i1> %set, {BYTES} %its, {BYTES} %bytes
  store {BYTES} %after, ptr %bytes.p, align 8
  ret i1 true
failed:
  ret i1 false
}}
"""
