"""Local memory of few lanes of a warp, or of one: as memory/local.py lays it out, by the lanes' numbers.

Few lanes' words of one address lie apart. One lane's memory, if it is little and used often, is copied when
the lane begins, and back when it ends: then its bytes lie side by side and where an element is, is no
computation.
"""

from __future__ import annotations

from ...isa.types import BITS
from ..builder import WIDTH
from ..memory.local import LocalMemory
from ..values.value import Value


class LocalMemoryOfFew(LocalMemory):
    """Emits accesses of few lanes, whose words do not lie side by side: those of one address are gathered."""

    def lanes(self) -> str:
        b = self.builder
        numbers = b.load(b.vector("i64"), "%few_from", ", align 64")
        return b.value(f"trunc {b.vector('i64')} {numbers} to {b.vector('i32')}")

    def _load_word(self, at: Value, offset: int, mask: str) -> str:
        return super()._load_word(self._of_each(at), offset, mask)

    def _store_word(self, at: Value, offset: int, word: str, mask: str) -> None:
        super()._store_word(self._of_each(at), offset, word, mask)

    def _of_each(self, at: Value) -> Value:
        """An address as a vector of i32."""
        if not at.uniform:
            return at
        return Value("i32", self.builder.splat("i32", self.builder.value(f"trunc i64 {at.ir} to i32")))


class LocalMemoryOfOne(LocalMemory):
    """Emits accesses of one lane to its `size` bytes of local memory: addresses and elements are scalars."""

    copied = False  # to %own

    def copy(self, *, back: bool) -> None:
        """Copy the lane's local memory, or take it back."""
        b = self.builder
        for byte in range(0, self.size, 4):
            theirs, own = self._word(byte), b.offset("%own", byte)
            source, target = (own, theirs) if back else (theirs, own)
            b.store("i32", b.load("i32", source, ", align 4"), target, ", align 4")

    def _load_element(self, at: Value, offset: int, type_: str, mask: str) -> str:
        b = self.builder
        if BITS[type_] < 64:
            return b.load(type_, self._place(at, offset), f", align {BITS[type_] // 8}")
        low, high = (b.load("i32", self._place(at, offset + part), ", align 4") for part in (0, 4))
        upper = b.value(f"shl i64 {b.value(f'zext i32 {high} to i64')}, 32")
        whole = b.value(f"or i64 {upper}, {b.value(f'zext i32 {low} to i64')}")
        return whole if type_ == "i64" else b.value(f"bitcast i64 {whole} to {type_}")

    def _store_element(self, at: Value, offset: int, type_: str, value: str, mask: str) -> None:
        b = self.builder
        store, on = b.label("store"), b.label("stored")
        b.branch(b.someone(mask), store, on)
        b.place(store)
        if BITS[type_] < 64:
            b.store(type_, value, self._place(at, offset), f", align {BITS[type_] // 8}")
        else:
            whole = value if type_ == "i64" else b.value(f"bitcast {type_} {value} to i64")
            for part in (0, 4):
                word = b.value(f"trunc i64 {b.value(f'lshr i64 {whole}, {8 * part}')} to i32")
                b.store("i32", word, self._place(at, offset + part), ", align 4")
        b.jump(on)
        b.place(on)

    def _place(self, at: Value, offset: int) -> str:
        """The host pointer of the bytes at `at + offset`, which lie within one word."""
        b = self.builder
        byte = b.value(f"add i64 {at.ir}, {offset}")
        if self.copied:
            return b.offset("%own", byte)
        row = b.value(f"shl i64 {b.value(f'and i64 {byte}, -4')}, 5")
        column = b.value(f"or i64 {b.value(f'and i64 {byte}, 3')}, {self._column()}")
        return b.offset("%local", b.value(f"add i64 {row}, {column}"))

    def _column(self) -> str:
        """The bytes in front of the lane's words in their rows."""
        return self.builder.value(f"shl i64 {self.builder.load('i64', '%few_from')}, 2")

    def _word(self, byte: int) -> str:
        """The host pointer of a word of the lane in the warp's memory."""
        return self.builder.offset("%local", self.builder.value(f"add i64 {self._column()}, {byte * WIDTH}"))
