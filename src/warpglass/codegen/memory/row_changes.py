"""Atomic operations on elements at checked addresses, as LLVM IR: one function for each, lane after lane.

A launch on one thread has all memory to itself, and needs no atomic instructions.
"""

from __future__ import annotations

from ...isa.lanes import Update
from ...isa.types import BITS
from ..builder import Builder, widened
from ..context import SLOT
from .atomic_forms import RowChange
from .element_changes import ElementChange

_WORDS = ("deferred", "deferred_most", "deferred_room", "deferred_count")


def row_helper(row: RowChange, declarations: set[str]) -> str:
    """The function, which returns the old elements, for the addresses on the host and a mask of lanes."""
    return _Row(row, Builder(declarations, row.width)).emit()


class _Row:
    """Emits the function."""

    def __init__(self, row: RowChange, builder: Builder):
        self.row = row
        self.b = builder
        self.wide = builder.vector(row.type)
        # Code for an Update is long, so there is only that of the loop over some lanes.
        self._unrolled = not isinstance(row.change, Update)

    def emit(self) -> str:
        """Its definition."""
        b, row = self.b, self.row
        words = b.vector("i64")
        for place, type_ in (("%at", words), ("%found", self.wide)):
            b.emit(f"{place} = alloca {type_}, align 64")
        b.store_for_lanes("i64", "%hosts", "%at")
        for number, uniform in enumerate(row.uniform):
            if not uniform:
                b.emit(f"%values{number} = alloca {self.wide}, align 64")
                b.store_for_lanes(row.type, f"%operand{number}", f"%values{number}")
        if row.deferred:
            self._defer()
        if row.own:
            b.jump("alone")
        else:
            word = b.load("i64", b.offset("%context", 8 * SLOT["alone"]))
            b.branch(b.value(f"icmp ne i64 {word}, 0"), "alone", "together")
        for way in ("alone",) if row.own else ("alone", "together"):
            b.place(way)
            if way == "together":
                self._count()
            self._lanes(way)
        b.place("done")
        b.emit(f"ret {self.wide} {b.load(self.wide, '%found')}")
        given = [("ptr", "%context"), (words, "%hosts"), (b.lanes, "%mask")]
        given += [(row.type if one else self.wide, f"%operand{k}") for k, one in enumerate(row.uniform)]
        parameters = ", ".join(f"{type_} {name}" for type_, name in given)
        head = f"define internal {self.wide} @{row.name}({parameters}) noinline #0 {{"
        return "\n".join(["", head, *b.lines, "}", ""])

    def _defer(self) -> None:
        """Keep addresses and operands for the end of the block; goes on here if there is no room."""
        b, words = self.b, self.b.vector("i64")
        log, fits, full, at_once = "log", "fits", "full", "at_once"
        b.emit(f"%given = alloca {words}, align 64")
        word = {name: b.offset("%context", 8 * SLOT[name]) for name in _WORDS}
        room = b.load("i64", word["deferred_room"])
        b.branch(b.value(f"icmp eq i64 {room}, 0"), at_once, log)
        b.place(log)
        before = b.load("i64", word["deferred_count"])
        lanes = b.call(b.lanes, f"llvm.ctpop.{b.lanes}", [(b.lanes, "%mask")])
        after = b.value(f"add i64 {before}, {b.value(widened(lanes, b.width))}")
        b.branch(b.value(f"icmp ugt i64 {after}, {room}"), full, fits)
        b.place(full)
        b.call("void", "wg_stop_deferring", [("ptr", "%context")])
        b.jump(at_once)
        b.place(fits)
        b.store("i64", after, word["deferred_count"])
        given = b.splat(self.row.type, "%operand0") if self.row.uniform[0] else "%operand0"
        if BITS[self.row.type] < 64:
            given = b.value(f"zext {self.wide} {given} to {words}")
        first = b.value(f"getelementptr i64, ptr {b.load('ptr', word['deferred'])}, i64 {before}")
        second = b.value(f"getelementptr i64, ptr {first}, i64 {b.load('i64', word['deferred_most'])}")
        b.branch(b.value(f"icmp eq {b.lanes} %mask, -1"), "all_deferred", "some_deferred")
        b.place("all_deferred")
        b.store(words, "%hosts", first, ", align 8")
        b.store(words, given, second, ", align 8")
        b.jump("done")
        b.place("some_deferred")
        b.store(words, given, "%given")
        b.branch(b.value(f"icmp eq {b.lanes} %mask, 0"), "done", "defer")
        b.place("defer")
        rest, fewer = "%rest_deferred", "%fewer_deferred"
        b.emit(f"{rest} = phi {b.lanes} [ %mask, %some_deferred ], [ {fewer}, %defer ]")
        b.emit("%to = phi i64 [ 0, %some_deferred ], [ %to_next, %defer ]")
        lane = b.first_lane(rest)
        for kept, column in (("%at", first), ("%given", second)):
            one = b.value(f"load volatile i64, ptr {self._at(kept, 'i64', lane)}")
            b.store("i64", one, b.value(f"getelementptr i64, ptr {column}, i64 %to"))
        b.emit("%to_next = add i64 %to, 1")
        b.emit(f"{fewer} = and {b.lanes} {rest}, {b.value(f'sub {b.lanes} {rest}, 1')}")
        b.branch(b.value(f"icmp eq {b.lanes} {fewer}, 0"), "done", "defer")
        b.place(at_once)

    def _count(self) -> None:
        """Add to the elements that the launch changes where other threads come to memory."""
        b = self.b
        word = b.offset("%context", 8 * SLOT["changes"])
        lanes = b.call(b.lanes, f"llvm.ctpop.{b.lanes}", [(b.lanes, "%mask")])
        more = b.value(f"add i64 {b.load('i64', word)}, {b.value(widened(lanes, b.width))}")
        b.store("i64", more, word)

    def _lanes(self, way: str) -> None:
        """The elements of all lanes of the mask, one way."""
        b = self.b
        some, next_ = f"some_{way}", f"next_{way}"
        if self._unrolled:
            b.branch(b.value(f"icmp eq {b.lanes} %mask, -1"), f"everyone_{way}", some)
            b.place(f"everyone_{way}")
            for lane in range(b.width):
                self._change(lane, way)
            b.jump("done")
        else:
            b.jump(some)
        b.place(some)
        b.branch(b.value(f"icmp eq {b.lanes} %mask, 0"), "done", next_)
        b.place(next_)
        rest, fewer, end = f"%rest_{way}", f"%fewer_{way}", f"end_{way}"
        b.emit(f"{rest} = phi {b.lanes} [ %mask, %{some} ], [ {fewer}, %{end} ]")
        self._change(b.first_lane(rest), way)
        b.jump(end)
        b.place(end)
        b.emit(f"{fewer} = and {b.lanes} {rest}, {b.value(f'sub {b.lanes} {rest}, 1')}")
        b.branch(b.value(f"icmp eq {b.lanes} {fewer}, 0"), "done", next_)

    def _change(self, lane: str | int, way: str) -> None:
        b, row = self.b, self.row
        # Volatile: taking addresses out of a vector register again takes longer than loading them, and an
        # operand that may not be needed would be loaded behind a branch that nobody foresees.
        given = [
            f"%operand{k}"
            if one
            else b.value(f"load volatile {row.type}, ptr {self._at(f'%values{k}', row.type, lane)}")
            for k, one in enumerate(row.uniform)
        ]
        place = b.value(f"load volatile ptr, ptr {self._at('%at', 'i64', lane)}")
        element = ElementChange(b, row.change, row.type, place)
        old = element.undisturbed(given) if way == "alone" else element.among_others(given)
        b.store(row.type, old, self._at("%found", row.type, lane))

    def _at(self, vector: str, type_: str, lane: str | int) -> str:
        if isinstance(lane, int):
            return self.b.offset(vector, lane * BITS[type_] // 8)
        return self.b.value(f"getelementptr {type_}, ptr {vector}, i64 {lane}")
