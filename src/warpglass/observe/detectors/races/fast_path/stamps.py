"""The first test of plain accesses, as LLVM IR: most of them race with nothing that is remembered.

`@wg_seen_run_...` is for lanes that lie side by side (contiguous.py), `@wg_seen_any_...` for any addresses
(scattered.py). Either finds the lines' words, tests what they say of all lanes at once and puts the new
stamps in their place. What does not pass, and whatever is unusual, goes to the native `access` (accesses.py),
which looks at one lane after the other; it may do so again for places that have their new stamps already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .....codegen.builder import constant_vector
from ... import layout
from ...regions import find_region
from ..accesses import access
from .writer import WHOLE, Writer

if TYPE_CHECKING:
    from ...instrumentation import Instrumentation

NOBODY = f"{WHOLE} zeroinitializer"
BYTES = f"<{layout.LINE} x i8>"
EACH_LANES = constant_vector("i64", (lane << layout.LANE_SHIFT for lane in range(32)))


@dataclass(frozen=True, slots=True)
class Test:
    """Which function an access wants."""

    run: bool  # lanes lie side by side
    write: bool
    size: int
    shared: bool  # the state space says so; else the address does

    @property
    def name(self) -> str:
        """The function's name."""
        words = ("run" if self.run else "any", "write" if self.write else "read", str(self.size))
        return "wg_seen_" + "_".join((*words, "shared" if self.shared else "global"))

    @property
    def address(self) -> str:
        """The type of the address: the first lane's for a run."""
        return "i64" if self.run else WHOLE

    @property
    def log(self) -> int:
        """log2 of the bytes."""
        return self.size.bit_length() - 1


class Seen(Writer):
    """Writes a test; strings name values of it."""

    def __init__(self, test: Test, code: Instrumentation, declarations: set[str]):
        super().__init__(code, declarations)
        self.test = test
        self.exact = code.exact
        self.sets = code.exact or code.strong  # whether lines may have sets (access_sets.py)

    def of_region(self, which: int) -> str:
        """A word of the region's row."""
        return self.b.load("i64", self.b.offset("%row", 8 * which))

    def none(self, stamps: str, type_: str = "i64") -> str:
        """Which stamps are none."""
        low = "%low" if type_ == "i64" else self.splat("%low")
        return self.b.value(f"icmp ult {type_} {stamps}, {low}")

    def fine(self, stamps: str, new: str, none: str, type_: str = "i64") -> str:
        """Which earlier stamps are none, ordered before what the warp does now, or the new ones' threads'."""
        b = self.b
        flags = "i1" if type_ == "i64" else "<32 x i1>"
        tag, reach, identity = (
            name if type_ == "i64" else self.splat(name) for name in ("%tag", "%reach", "%identity")
        )
        since = b.value(f"sub {type_} {stamps}, {tag}")
        before = b.value(f"icmp ult {type_} {since}, {reach}")
        differ = b.value(f"and {type_} {b.value(f'xor {type_} {stamps}, {new}')}, {identity}")
        zero = "0" if type_ == "i64" else "zeroinitializer"
        same = b.value(f"icmp eq {type_} {differ}, {zero}")
        return b.value(f"or {flags} {b.value(f'or {flags} {none}, {before}')}, {same}")

    def strong(self, stamps: str, none: str, type_: str = "i64") -> str:
        """Which stamps are strong: such a write may hide another."""
        b = self.b
        flags = "i1" if type_ == "i64" else "<32 x i1>"
        mask = str(layout.STRENGTHS) if type_ == "i64" else f"splat (i64 {layout.STRENGTHS})"
        zero = "0" if type_ == "i64" else "zeroinitializer"
        some = b.value(f"icmp ne {type_} {b.value(f'and {type_} {stamps}, {mask}')}, {zero}")
        return b.value(f"and {flags} {some}, {b.value(f'xor {flags} {none}, {_true(flags)}')}")

    def odd(self, stamps: str, new: str, mask: str, *, written: bool) -> str:
        """The lanes of a mask whose earlier stamp is one to look at; `written` for the last writer's."""
        b = self.b
        none = self.none(stamps, WHOLE)
        fine = b.mask_bits(self.fine(stamps, new, none, WHOLE))
        bad = b.value(f"xor i32 {fine}, -1")
        if written:
            bad = b.value(f"or i32 {bad}, {b.mask_bits(self.strong(stamps, none, WHOLE))}")
            if not self.test.write:
                fresh = b.value(f"select i1 %fresh, i32 {b.mask_bits(none)}, i32 0")
                bad = b.value(f"or i32 {bad}, {fresh}")
        return b.value(f"and i32 {bad}, {mask}")

    def writer_fine(self, stamp: str, new: str) -> str:
        """Whether a whole line's last writer is nobody to look at."""
        b = self.b
        none = self.none(stamp)
        good = self.fine(stamp, new, none)
        weak = b.value(f"xor i1 {self.strong(stamp, none)}, true")
        good = self.both(good, weak)
        if self.test.write:
            return good
        undefined = self.both(none, "%fresh")
        return self.both(good, b.value(f"xor i1 {undefined}, true"))


def _true(flags: str) -> str:
    return "true" if flags == "i1" else "splat (i1 true)"


def start(seen: Seen) -> None:
    """The worker's state, and the region of the first lane in `%row`; at other addresses it is over."""
    b, test = seen.b, seen.test
    seen.start()
    if test.run:
        b.emit("%first = add i64 %address, 0")
    else:
        lane = b.call("i32", "llvm.cttz.i32", [("i32", "%mask"), ("i1", "false")])
        b.emit(f"%first = extractelement {WHOLE} %address, i32 {b.value(f'and i32 {lane}, 31')}")
    (_shared_region if test.shared else _find_region)(seen)
    b.emit(f"%shift = add i64 {seen.of_region(layout.SHIFT)}, 0")
    b.emit(f"%last = sub i64 {seen.of_region(layout.SIZE)}, {32 * test.size if test.run else test.size}")
    b.emit(f"%fresh = icmp ne i64 {seen.of_region(layout.FRESH)}, 0")


def _shared_region(seen: Seen) -> None:
    b = seen.b
    b.emit("%is_shared = icmp eq i64 0, 0")
    b.emit(f"%row = inttoptr i64 {seen.word(layout.REGIONS)} to ptr")
    b.emit("%start = add i64 0, 0")


def _find_region(seen: Seen) -> None:
    """The row of the region that this place in the program met last, or of the one that it meets now."""
    b = seen.b
    b.emit("%met = load i64, ptr %site")
    row = seen.pointer("%met")
    since = b.value(f"sub i64 %first, {b.load('i64', b.offset(row, 8 * layout.START))}")
    again = b.value(f"icmp ult i64 {since}, {b.load('i64', b.offset(row, 8 * layout.SIZE))}")
    b.branch(again, "found", "look")
    b.place("look")
    seen.call(find_region, b.value("ptrtoint ptr %site to i64"), "%first")
    b.emit("%found.now = load i64, ptr %site")
    b.jump("found")
    b.place("found")
    b.emit("%row.word = phi i64 [ %met, %entry ], [ %found.now, %look ]")
    b.emit("%row = inttoptr i64 %row.word to ptr")
    b.emit(f"%start = add i64 {seen.of_region(layout.START)}, 0")
    b.emit(f"%is_shared = icmp eq i64 %row.word, {seen.word(layout.REGIONS)}")


def remembered(seen: Seen) -> None:
    """All lanes are in the region: what is only read needs no test."""
    if seen.test.shared:
        return
    b = seen.b
    only = b.value(f"icmp ne i64 {seen.of_region(layout.ONLY_READ)}, 0")
    b.branch(only, "slow" if seen.test.write else "done", "remembered")
    b.place("remembered")


def clock(seen: Seen) -> None:
    """Who accesses, without the lane, in `%prefix`, and what earlier stamps are compared with."""
    b = seen.b
    b.emit(f"%tag = add i64 {seen.word(layout.TAG)}, 0")
    b.emit(f"%identity = add i64 {seen.word(layout.IDENTITY)}, 0")
    b.emit(f"%reach = sub i64 {seen.by_warp(layout.FLOORS)}, %tag")
    b.emit("%low = select i1 %is_shared, i64 %tag, i64 1")
    b.emit(f"%prefix = or i64 {seen.who()}, %low_bits")


def end(seen: Seen) -> None:
    """Where tests that do not pass go."""
    b, test = seen.b, seen.test
    b.place("slow")
    every = "%address"
    if test.run:
        steps = constant_vector("i64", (lane * test.size for lane in range(32)))
        every = b.value(f"add {WHOLE} {seen.splat('%address')}, {steps}")
    mask = b.value("zext i32 %mask to i64")
    seen.call(access, "%info", mask, "%warp64", seen.keep(every), "%values")
    b.emit("ret void")
    b.place("done")
    b.emit("ret void")


def function(seen: Seen) -> str:
    """The definition, of all that was written."""
    parameters = (
        "ptr %counters, ptr %site, i64 %info, i64 %low_bits, i32 %mask, i32 %warp, "
        f"{seen.test.address} %address, i64 %values"
    )
    return seen.define(f"void @{seen.test.name}({parameters})")


# ---------------------------------------------------------------------------------------- lines
def words(seen: Seen) -> None:
    """The words of writers and readers of the line at `%at`."""
    b = seen.b
    for name, which in (("w", layout.WRITES), ("r", layout.READS)):
        b.emit(f"%{name}.at = add i64 {seen.of_region(which)}, %at")
        b.emit(f"%{name}.p = inttoptr i64 %{name}.at to ptr")
        b.emit(f"%{name} = load i64, ptr %{name}.p")


def word_at(seen: Seen, which: int) -> str:
    """The address of the word of a kind that the line has which a run is at."""
    return seen.b.value(f"add i64 {seen.of_region(which)}, %at")


def no_set(seen: Seen) -> str:
    """Whether nothing but its stamps is remembered of the line that a run is at."""
    b = seen.b
    if not seen.sets:
        return "true"
    return b.value(f"icmp eq i64 {b.load('i64', seen.pointer(word_at(seen, layout.SETS)))}, 0")


def is_palette(seen: Seen, word: str) -> str:
    """Whether a line's word is that of a palette."""
    b = seen.b
    marked = b.value(f"icmp ne i64 {b.value(f'and i64 {word}, {layout.PALETTE}')}, 0")
    return seen.both(marked, b.value(f"icmp slt i64 {word}, 0"))


def is_wide(seen: Seen, word: str) -> str:
    """Whether a line's word is that of a stamp for each place."""
    b = seen.b
    unmarked = b.value(f"icmp eq i64 {b.value(f'and i64 {word}, {layout.PALETTE}')}, 0")
    return seen.both(unmarked, b.value(f"icmp slt i64 {word}, 0"))


def note_more(seen: Seen, what: str) -> None:
    """Note in the region's row that READS are not all."""
    b = seen.b
    before = seen.of_region(layout.MORE_READS)
    b.store("i64", b.value(f"or i64 {before}, {what}"), b.offset("%row", 8 * layout.MORE_READS))
