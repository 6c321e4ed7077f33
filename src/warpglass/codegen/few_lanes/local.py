"""Local memory of few lanes of a warp: as memory/local.py lays it out, by the lanes' numbers in the warp."""

from __future__ import annotations

from ...isa.types import BITS
from ..memory.access import Access
from ..memory.local import LocalMemory
from ..values.value import Value
from .find import Form


class FewLocalMemory(LocalMemory):
    """Emits accesses of few lanes to local memory of `size` bytes a thread; one lane's are of scalars."""

    def __init__(self, access: Access, size: int, form: Form):
        super().__init__(access, size)
        self._alone = form.alone

    def _load_element(self, address: Value, offset: int, type_: str, mask: str) -> str:
        if not self._alone:
            return super()._load_element(address, offset, type_, mask)
        b = self.builder
        if BITS[type_] < 64:
            return b.load(type_, self._place(address, offset), f", align {BITS[type_] // 8}")
        low, high = (b.load("i32", self._place(address, offset + part), ", align 4") for part in (0, 4))
        upper = b.value(f"shl i64 {b.value(f'zext i32 {high} to i64')}, 32")
        whole = b.value(f"or i64 {upper}, {b.value(f'zext i32 {low} to i64')}")
        return whole if type_ == "i64" else b.value(f"bitcast i64 {whole} to {type_}")

    def _store_element(self, address: Value, offset: int, type_: str, value: str, mask: str) -> None:
        if not self._alone:
            super()._store_element(address, offset, type_, value, mask)
            return
        b = self.builder
        store, on = b.label("store"), b.label("stored")
        b.branch(b.someone(mask), store, on)
        b.place(store)
        if BITS[type_] < 64:
            b.store(type_, value, self._place(address, offset), f", align {BITS[type_] // 8}")
        else:
            whole = value if type_ == "i64" else b.value(f"bitcast {type_} {value} to i64")
            for part in (0, 4):
                word = b.value(f"trunc i64 {b.value(f'lshr i64 {whole}, {8 * part}')} to i32")
                b.store("i32", word, self._place(address, offset + part), ", align 4")
        b.jump(on)
        b.place(on)

    def _place(self, address: Value, offset: int) -> str:
        """The host pointer of the one lane's bytes at `address + offset`, which lie within one word."""
        b = self.builder
        at = b.value(f"add i64 {address.ir}, {offset}")
        row = b.value(f"shl i64 {b.value(f'and i64 {at}, -4')}, 5")
        lane = b.value(f"shl i64 {b.load('i64', '%few_from')}, 2")
        column = b.value(f"or i64 {b.value(f'and i64 {at}, 3')}, {lane}")
        return b.offset("%local", b.value(f"add i64 {row}, {column}"))

    def _lanes(self) -> str:
        b = self.builder
        whole = b.vector("i64")
        return b.value(f"shl {whole} {b.load(whole, '%few_from', ', align 64')}, splat (i64 2)")
