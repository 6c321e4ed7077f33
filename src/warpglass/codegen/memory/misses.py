"""Sites of unknown addresses whose lanes do not lie side by side: to look whether they do is left out there.

It takes as long as half a gather. Lanes at an image's border are apart for a while and then side by side, so
a site is only left alone where its lanes were apart many times in a row, and for as many times as that.
"""

from __future__ import annotations

from ..builder import Builder

# How many times lanes are apart before a site is left alone, and how many times it is at most.
_TRIES, _LONGEST = 512, 4096


class Misses:
    """Counts how many times in a row a site's lanes were apart.

    There are two i32 at `place`: the times, or from `_TRIES` on how many times more it is left alone, down to
    one less; and how many times it was last.
    """

    def __init__(self, b: Builder, place: str):
        self._b = b
        self._place = place
        self._count = ""

    def look(self, yes: str, no: str) -> str:
        """Go to `yes` unless the site is left alone, else to `no`, from the label that is returned."""
        b = self._b
        start, alone = b.label("look"), b.label("alone")
        b.jump(start)
        b.place(start)
        self._count = b.load("i32", self._place)
        b.branch(b.value(f"icmp ult i32 {self._count}, {_TRIES}"), yes, alone)
        b.place(alone)
        b.store("i32", b.value(f"sub i32 {self._count}, 1"), self._place)
        b.jump(no)
        return alone

    def forget(self) -> None:
        """Its lanes lie side by side, or are apart in a way that is worth to be found."""
        self._b.store("i64", "0", self._place)

    def count(self) -> None:
        """Its lanes are apart."""
        b = self._b
        many, on = b.label("many"), b.label("counted")
        count = b.value(f"add i32 {self._count}, 1")
        b.store("i32", count, self._place)
        b.branch(b.value(f"icmp eq i32 {count}, {_TRIES}"), many, on, unlikely=True)
        b.place(many)
        before = b.offset(self._place, 4)
        twice = b.value(f"shl i32 {b.load('i32', before)}, 1")
        least = b.call("i32", "llvm.umax.i32", [("i32", twice), ("i32", str(_TRIES))])
        times = b.call("i32", "llvm.umin.i32", [("i32", least), ("i32", str(_LONGEST))])
        b.store("i32", times, before)
        b.store("i32", b.value(f"add i32 {times}, {_TRIES - 1}"), self._place)
        b.jump(on)
        b.place(on)
