"""Changes that lanes apart keep until all of them are through the region.

What commutes and is not read by anyone, as an atomic minimum whose result is not used, may be done at any
time before somebody looks. So a lane apart writes down the element's place and the operand, and can still
begin again. At the end all changes are done, one after the other.
"""

from __future__ import annotations

from ..builder import Builder
from ..context import SLOT
from ..memory.element_changes import ElementChange

# How many changes the lanes of one entry may keep; if there are more, they go together.
ROOM = 1024
# Bytes of all that is kept: places, operands, and how many there are.
SIZE = 16 * ROOM + 8


class KeptChanges:
    """Emits what a lane writes down, from `start` in the region's memory on.

    `kind` is the change and the type of what is changed.
    """

    def __init__(self, b: Builder, start: int):
        self.b = b
        self.kind: tuple[str, str] | None = None
        self._start = start

    def begin(self) -> None:
        """What earlier lanes have kept stays."""
        b = self.b
        b.store("i64", b.load("i64", self._count()), "%kept")

    def end(self) -> None:
        """So does what this lane has."""
        b = self.b
        b.store("i64", b.load("i64", "%kept"), self._count())

    def keep(self, change: str, type_: str, place: str, operand: str, full: str) -> None:
        """Keep a change of the element at a place, or jump to `full` if there is no room."""
        b = self.b
        self.kind = change, type_
        count, room = b.load("i64", "%kept"), b.label("room")
        b.branch(b.value(f"icmp uge i64 {count}, {ROOM}"), full, room, unlikely=True)
        b.place(room)
        for start, kind, what in ((0, "ptr", place), (8 * ROOM, type_, operand)):
            column = b.offset("%few", self._start + start)
            b.store(kind, what, b.value(f"getelementptr {kind}, ptr {column}, i64 {count}"))
        b.store("i64", b.value(f"add i64 {count}, 1"), "%kept")

    def _count(self) -> str:
        return self.b.offset("%few", self._start + 16 * ROOM)


def helper(change: str, type_: str, declarations: set[str]) -> tuple[str, str]:
    """The function that does all changes of a kind which are kept in a piece of memory: its name, its IR."""
    b, name = Builder(declarations, 1), f"wg_do_kept_{change}_{type_}"
    count = b.load("i64", b.offset("%kept", 16 * ROOM))
    alone = b.load("i64", b.offset("%context", 8 * SLOT["alone"]))
    b.branch(b.value(f"icmp eq i64 {count}, 0"), "done", "some")
    b.place("some")
    b.branch(b.value(f"icmp ne i64 {alone}, 0"), "alone", "together")
    for way in ("alone", "together"):
        b.place(way)
        if way == "together":
            word = b.offset("%context", 8 * SLOT["changes"])
            b.store("i64", b.value(f"add i64 {b.load('i64', word)}, {count}"), word)
        b.jump(f"{way}_next")
        b.place(f"{way}_next")
        number = b.phi("i64", ("0", way), (f"%{way}_following", f"{way}_changed"))
        place = b.load("ptr", b.value(f"getelementptr ptr, ptr %kept, i64 {number}"))
        operands = b.offset("%kept", 8 * ROOM)
        operand = b.load(type_, b.value(f"getelementptr {type_}, ptr {operands}, i64 {number}"))
        element = ElementChange(b, change, type_, place)
        (element.undisturbed if way == "alone" else element.among_others)([operand])
        b.jump(f"{way}_changed")
        b.place(f"{way}_changed")
        b.emit(f"%{way}_following = add i64 {number}, 1")
        b.branch(b.value(f"icmp ult i64 %{way}_following, {count}"), f"{way}_next", "done")
    b.place("done")
    b.emit("ret void")
    head = f"define internal void @{name}(ptr %context, ptr %kept) noinline #0 {{"
    return name, "\n".join(["", head, *b.lines, "}", ""])
