"""The first test of plain accesses of shared memory, as LLVM IR: most go into the journal as they are.

`@wg_enter_...` finds out whether all bytes that are read have been written and whether the hull of the
access, from its lowest byte to its highest, meets none that is in the way in the journal (journal.py), and
enters it. Lanes' offsets from an address that are known when code is generated, a **pattern**, stand in a
table, so that an entry is a few words. What does not pass goes to the native `defer` (accesses.py), which
looks at lanes; where the interval has stamps instead of a journal, or an address is not of shared memory, to
the tests of stamps (stamps.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from .....codegen.builder import Builder, constant_vector
from .....codegen.values.value import Offsets
from ... import layout
from ..accesses import defer
from .stamps import Test
from .writer import WHOLE, Writer

if TYPE_CHECKING:
    from ...instrumentation import Instrumentation

_HALVES = "<32 x i32>"
_SHARED_WINDOW = 1 << 48
_FEW = 4  # runs of neighbouring bytes that are tested one after the other
_TABLE = "wg_lane_offsets_"

_GATHER = f"declare {_HALVES} @llvm.masked.gather.v32i32.v32p0(<32 x ptr>, <32 x i1>, {_HALVES})"


@dataclass(frozen=True, slots=True)
class Entering:
    """Which function an access wants; `pattern` are the lanes' offsets in bytes, None for any addresses."""

    write: bool
    size: int
    generic: bool  # the address says whether it is of shared memory
    pattern: Offsets | None

    @property
    def run(self) -> bool:
        """Whether lanes lie side by side."""
        return self.pattern == tuple(self.size * lane for lane in range(32))

    @property
    def uniform(self) -> bool:
        """Whether all lanes are at one place."""
        return self.pattern is not None and len(set(self.pattern)) == 1

    @property
    def injective(self) -> bool:
        """Whether no two lanes share a byte."""
        if self.pattern is None:
            return False
        places = sorted(self.pattern)
        return all(after - before >= self.size for before, after in pairwise(places))

    @property
    def stamped(self) -> Test:
        """The test of stamps in its place."""
        return Test(self.run, self.write, self.size, not self.generic)

    @property
    def covered(self) -> list[tuple[int, int]]:
        """The runs of neighbouring bytes that all lanes cover: first one and length."""
        assert self.pattern is not None, "a pattern"
        runs: list[tuple[int, int]] = []
        for first in sorted(set(self.pattern)):
            if runs and first <= sum(runs[-1]):
                runs[-1] = (runs[-1][0], max(sum(runs[-1]), first + self.size) - runs[-1][0])
            else:
                runs.append((first, self.size))
        return runs


def table(pattern: Offsets, number: int) -> str:
    """The definition of the table of a pattern."""
    listed = ", ".join(f"i32 {offset}" for offset in pattern)
    return f"@{_TABLE}{number} = private constant [32 x i32] [{listed}], align 64\n"


def name_of(one: Entering, numbers: Mapping[Offsets, int]) -> str:
    """The name of its function; `numbers` are the patterns'."""
    words = ("write" if one.write else "read", str(one.size), "generic" if one.generic else "shared")
    place = "any" if one.pattern is None else str(numbers[one.pattern])
    return "_".join(("wg_enter", *words, place))


class _Text(Writer):
    """Writes the function."""

    def __init__(self, one: Entering, code: Instrumentation, declarations: set[str]):
        super().__init__(code, declarations)
        self.one = one

    def on(self, condition: str, label: str) -> None:
        """Go on where a condition holds, else look more closely."""
        self.b.branch(condition, label, "slow")
        self.b.place(label)


def function(
    one: Entering,
    numbers: Mapping[Offsets, int],
    code: Instrumentation,
    declarations: set[str],
) -> str:
    """The definition."""
    text = _Text(one, code, declarations)
    b = text.b
    text.start()
    b.emit("%mask64 = zext i32 %mask to i64")
    b.emit(f"%limit = add i64 {text.word(layout.JOURNAL_LIMIT)}, 0")
    table_at = "0" if one.pattern is None else f"ptrtoint (ptr @{_TABLE}{numbers[one.pattern]} to i64)"
    if not (one.write and not (one.injective or one.uniform)):
        (_hull_of_any if one.pattern is None else _hull_of_pattern)(text)
        _others(text, table_at if one.injective else "0")
        _bytes(text)
        _enter(text, table_at)
    else:
        b.jump("slow")
    _end(text)
    kind = WHOLE if one.pattern is None else "i64"
    parameters = (
        "ptr %counters, ptr %site, i64 %info, i64 %low_bits, i32 %mask, i32 %warp, "
        f"{kind} %address, i64 %values"
    )
    return text.define(f"void @{name_of(one, numbers)}({parameters})")


# ---------------------------------------------------------------------------------------- where
def _hull_of_pattern(text: _Text) -> None:
    """`%low` and `%high` of the lanes, of those that act in a run; they are in shared memory."""
    b, one = text.b, text.one
    assert one.pattern is not None
    b.emit(f"%within = sub i64 %address, {_SHARED_WINDOW if one.generic else 0}")
    if one.run:
        first = b.call("i32", "llvm.cttz.i32", [("i32", "%mask"), ("i1", "false")])
        behind = b.call("i32", "llvm.ctlz.i32", [("i32", "%mask"), ("i1", "false")])
        wide = b.value(f"zext i32 {b.value(f'sub i32 32, {behind}')} to i64")
        starts = b.value(f"mul i64 {b.value(f'zext i32 {first} to i64')}, {one.size}")
        b.emit(f"%low = add i64 %within, {starts}")
        b.emit(f"%high = add i64 %within, {b.value(f'mul i64 {wide}, {one.size}')}")
    else:
        b.emit(f"%low = add i64 %within, {min(one.pattern)}")
        b.emit(f"%high = add i64 %within, {max(one.pattern) + one.size}")
    aligned = b.value(f"icmp eq i64 {b.value(f'and i64 %within, {one.size - 1}')}, 0")
    acting = b.value("icmp ne i32 %mask, 0")
    ends = [b.value(f"icmp ule i64 {end}, %limit") for end in ("%low", "%high")]
    some = b.value("icmp ult i64 %low, %high")
    text.on(text.both(aligned, acting, some, *ends), "inside")
    if one.write and one.uniform:
        alone = b.value(f"and i32 %mask, {b.value('sub i32 %mask, 1')}")
        text.on(b.value(f"icmp eq i32 {alone}, 0"), "alone")


def _hull_of_any(text: _Text) -> None:
    b, one = text.b, text.one
    inside = "%address"
    if one.generic:
        inside = b.value(f"sub {WHOLE} %address, splat (i64 {_SHARED_WINDOW})")
    b.emit("%lanes = bitcast i32 %mask to <32 x i1>")
    last = b.value(f"sub i64 %limit, {one.size}")
    far = b.value(f"icmp ugt {WHOLE} {inside}, {b.splat('i64', last)}")
    b.emit(f"%offsets = trunc {WHOLE} {inside} to {_HALVES}")
    odd = b.value(f"and {_HALVES} %offsets, splat (i32 {one.size - 1})")
    odd = b.value(f"icmp ne {_HALVES} {odd}, zeroinitializer")
    bad = b.mask_bits(b.value(f"or <32 x i1> {far}, {odd}"))
    none = b.value(f"icmp eq i32 {b.value(f'and i32 {bad}, %mask')}, 0")
    room = b.value(f"icmp uge i64 %limit, {one.size}")
    acting = b.value("icmp ne i32 %mask, 0")
    text.on(text.both(none, room, acting), "inside")
    for name, identity, reduce in (("low", "-1", "umin"), ("top", "0", "umax")):
        acting = b.value(f"select <32 x i1> %lanes, {_HALVES} %offsets, {_HALVES} splat (i32 {identity})")
        found = b.call("i32", f"llvm.vector.reduce.{reduce}.v32i32", [(_HALVES, acting)])
        b.emit(f"%{name} = zext i32 {found} to i64")
    b.emit(f"%high = add i64 %top, {one.size}")


# ---------------------------------------------------------------------------------------- who else
def _others(text: _Text, pattern: str) -> None:
    """Go on if no entry that is in the way meets the hull, but for those of the same threads."""
    b = text.b
    b.emit("%base = add i64 " + ("0, 0" if text.one.pattern is None else "%within, 0"))
    lists = (layout.WRITE_LIST, layout.READ_LIST) if text.one.write else (layout.WRITE_LIST,)
    for number, one in enumerate(lists):
        before = b.value(f"icmp ule i64 %high, {text.word(one + layout.LIST_LOW)}")
        behind = b.value(f"icmp uge i64 %low, {text.word(one + layout.LIST_HIGH)}")
        look, free = f"look{number}", f"free{number}"
        b.branch(b.value(f"or i1 {before}, {behind}"), free, look)
        b.place(look)
        args = [("ptr", "%S"), ("ptr", text.at(one)), ("i64", "%low"), ("i64", "%high"), ("i64", "%warp64")]
        args += [("i64", "%base"), ("i64", pattern), ("i64", "%info"), ("i64", "%mask64")]
        args.append(("i64", str(text.one.size.bit_length() - 1 if text.one.run else -1)))
        text.on(b.call("i1", "wg_enter_apart", args), free)


# ---------------------------------------------------------------------------------------- which bytes
def _bytes(text: _Text) -> None:
    """Go on if what is read is written; note what is written."""
    b, one = text.b, text.one
    if one.pattern is None or len(one.covered) > _FEW:
        _gathered(text)
        return
    places = [chunk for start, length in one.covered for chunk in _chunks(text, start, length)]
    missing = "0"
    for place, wanted in places:
        held = b.load("i64", place, ", align 1")
        absent = b.value(f"and i64 {b.value(f'xor i64 {held}, -1')}, {wanted}")
        missing = b.value(f"or i64 {missing}, {absent}")
    there = b.value(f"icmp eq i64 {missing}, 0")
    if not one.write:
        text.on(there, "there")
        return
    b.branch(there, "noted", "note")
    b.place("note")
    if not one.uniform:
        text.on(b.value("icmp eq i32 %mask, -1"), "note.all")
    for place, wanted in places:
        b.store("i64", b.value(f"or i64 {b.load('i64', place, ', align 1')}, {wanted}"), place, ", align 1")
    b.jump("noted")
    b.place("noted")


def _chunks(text: _Text, start: int, length: int) -> Iterator[tuple[str, str]]:
    """Where the bits of a run of bytes are, 64 or fewer at a time, and which bits of those words."""
    b = text.b
    first = b.value(f"add i64 %within, {start}")
    place = b.offset(b.load("ptr", text.at(layout.WRITTEN)), b.value(f"ashr i64 {first}, 3"))
    aligned = text.one.size % 8 == 0
    step = 64 if aligned else 56
    inner = b.value(f"and i64 {first}, 7")
    for done in range(0, length, step):
        some = (1 << min(step, length - done)) - 1
        wanted = str(some - (1 << 64) if some >> 63 else some)
        yield b.offset(place, done // 8), wanted if aligned else b.value(f"shl i64 {wanted}, {inner}")


def _gathered(text: _Text) -> None:
    """The same, lane by lane; what is written for the first time is for others to note."""
    b, one = text.b, text.one
    if one.pattern is not None:
        low = b.splat("i32", b.value("trunc i64 %within to i32"))
        b.emit(f"%offsets = add {_HALVES} {low}, {constant_vector('i32', one.pattern)}")
        b.emit("%lanes = bitcast i32 %mask to <32 x i1>")
    bytes_ = b.value(f"lshr {_HALVES} %offsets, splat (i32 3)")
    bits = b.load("ptr", text.at(layout.WRITTEN))
    pointers = b.value(f"getelementptr i8, ptr {bits}, {_HALVES} {bytes_}")
    b.declarations.add(_GATHER)
    held = b.value(
        f"call {_HALVES} @llvm.masked.gather.v32i32.v32p0(<32 x ptr> align 1 {pointers}, <32 x i1> %lanes, "
        f"{_HALVES} splat (i32 -1))"
    )
    inner = b.value(f"and {_HALVES} %offsets, splat (i32 7)")
    moved = b.value(f"lshr {_HALVES} {b.value(f'xor {_HALVES} {held}, splat (i32 -1)')}, {inner}")
    missing = b.value(f"and {_HALVES} {moved}, splat (i32 {_signed((1 << one.size) - 1)})")
    absent = b.mask_bits(b.value(f"icmp ne {_HALVES} {missing}, zeroinitializer"))
    text.on(b.value(f"icmp eq i32 {absent}, 0"), "there")


def _signed(pattern: int) -> int:
    return pattern - (1 << 32) if pattern >> 31 else pattern


# ---------------------------------------------------------------------------------------- entering
def _enter(text: _Text, table_at: str) -> None:
    """Put the entry into its list, if that has room."""
    b = text.b
    one = layout.WRITE_LIST if text.one.write else layout.READ_LIST
    other = layout.READ_LIST if text.one.write else layout.WRITE_LIST
    number = text.word(one + layout.LIST_COUNT)
    text.on(b.value(f"icmp ult i64 {number}, {layout.LIST_SLOTS}"), "enter")
    offsets = table_at
    if text.one.pattern is None:
        room = b.value(f"mul i64 {number}, {layout.OFFSETS_BYTES}")
        offsets = b.value(f"add i64 {text.word(one + layout.LIST_ROOM)}, {room}")
        b.store(_HALVES, "%offsets", text.pointer(offsets), ", align 4")
    stamp = b.value(f"or i64 {text.who()}, %low_bits")
    together = b.value(f"add i64 {number}, {text.word(other + layout.LIST_COUNT)}")
    numbered = b.value(f"or i64 %mask64, {b.value(f'shl i64 {together}, {layout.NUMBER_SHIFT}')}")
    row = b.value(f"mul i64 {number}, {8 * layout.ENTRY_WORDS}")
    entry = b.offset(text.pointer(text.word(one + layout.LIST_ENTRIES)), row)
    fields = {
        layout.ENTRY_INFO: "%info",
        layout.ENTRY_STAMP: stamp,
        layout.ENTRY_MASK: numbered,
        layout.ENTRY_BASE: "%base",
        layout.ENTRY_OFFSETS: offsets,
    }
    for word, value in fields.items():
        b.store("i64", value, b.offset(entry, 8 * word))
    for word, end in ((layout.LIST_LOWS, "%low"), (layout.LIST_HIGHS, "%high")):
        place = b.offset(text.pointer(text.word(one + word)), b.value(f"shl i64 {number}, 2"))
        b.store("i32", b.value(f"trunc i64 {end} to i32"), place)
    for word, end, pick in ((layout.LIST_LOW, "%low", "umin"), (layout.LIST_HIGH, "%high", "umax")):
        hull = b.call("i64", f"llvm.{pick}.i64", [("i64", text.word(one + word)), ("i64", end)])
        b.store("i64", hull, text.at(one + word))
    b.store("i64", b.value(f"add i64 {number}, 1"), text.at(one + layout.LIST_COUNT))
    b.emit("ret void")


# ---------------------------------------------------------------------------------------- otherwise
def _end(text: _Text) -> None:
    """What does not pass: to `defer`, or to the test of stamps."""
    b, one = text.b, text.one
    b.place("slow")
    closed = b.value("icmp eq i64 %limit, 0")
    if one.generic:
        first = "%address"
        if one.pattern is None:
            lane = b.call("i32", "llvm.cttz.i32", [("i32", "%mask"), ("i1", "false")])
            first = b.value(f"extractelement {WHOLE} %address, i32 {b.value(f'and i32 {lane}, 31')}")
        elsewhere = b.value(f"icmp ne i64 {b.value(f'lshr i64 {first}, 48')}, 1")
        closed = b.value(f"or i1 {closed}, {elsewhere}")
    every = "%address"
    if one.pattern is not None:
        steps = constant_vector("i64", one.pattern)
        every = b.value(f"add {WHOLE} {b.splat('i64', '%address')}, {steps}")
    b.branch(closed, "stamps", "defer")
    b.place("stamps")
    test = one.stamped
    args = [("ptr", "%counters"), ("ptr", "%site"), ("i64", "%info"), ("i64", "%low_bits")]
    args += [("i32", "%mask"), ("i32", "%warp")]
    args += [(test.address, "%address" if test.run else every), ("i64", "%values")]
    b.call("void", test.name, args)
    b.emit("ret void")
    b.place("defer")
    text.call(defer, "%info", "%mask64", "%warp64", text.keep(every), "%values")
    b.emit("ret void")


# ---------------------------------------------------------------------------------------- intervals
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
