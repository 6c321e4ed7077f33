"""Local memory of few lanes of a warp, whose words do not lie side by side, and of one, whose are scalars."""

from __future__ import annotations

from ...isa.types import BITS
from ..context import LOCAL_WINDOW
from ..memory.local import LocalMemory
from ..values.value import Value


class FewLocal(LocalMemory):
    """Emits accesses to the warp's local memory; `%few_from` has the lanes' numbers."""

    def lanes(self) -> str:
        b = self.builder
        numbers = b.load(b.vector("i64"), "%few_from", ", align 64")
        return b.value(f"trunc {b.vector('i64')} {numbers} to {b.vector('i32')}")

    def _load_word(self, at: Value, offset: int, mask: str) -> str:
        return super()._load_word(self._of_each(at), offset, mask)

    def _store_word(self, at: Value, offset: int, word: str, mask: str) -> None:
        super()._store_word(self._of_each(at), offset, word, mask)

    def _of_each(self, at: Value) -> Value:
        b = self.builder
        return Value("i32", b.splat("i32", b.value(f"trunc i64 {at.ir} to i32"))) if at.uniform else at

    # ------------------------------------------------------------------------------------ one lane
    def load_one(self, site: int, address: str, type_: str, count: int, mask: str) -> list[str]:
        """`count` neighbouring elements of the only lane, as scalars; it need not act."""
        b, size = self.builder, BITS[type_] // 8
        address = self._checked(site, address, mask)
        return [
            b.value(f"bitcast i{8 * size} {self._bits(address, k * size, size)} to {type_}")
            for k in range(count)
        ]

    def store_one(self, site: int, address: str, type_: str, values: list[str], mask: str) -> None:
        """Neighbouring elements of the only lane, as scalars; it need not act."""
        b, size = self.builder, BITS[type_] // 8
        act, done = b.label("act"), b.label("stored")
        b.branch(b.someone(mask), act, done)
        b.place(act)
        address = self._checked(site, address, mask)
        for k, value in enumerate(values):
            bits = b.value(f"bitcast {type_} {value} to i{8 * size}")
            if size < 8:
                b.store(f"i{8 * size}", bits, self._place(address, k * size), f", align {size}")
                continue
            for part in (0, 4):
                word = b.value(f"trunc i64 {b.value(f'lshr i64 {bits}, {8 * part}')} to i32")
                b.store("i32", word, self._place(address, k * size + part), ", align 4")
        b.jump(done)
        b.place(done)

    def _checked(self, site: int, address: str, mask: str) -> str:
        """An address at which there is memory: the given one, or a fault if the lane acts."""
        b, size = self.builder, self.access.sites[site].size
        start, wrong, fault, right = (b.label() for _ in range(4))
        b.jump(start)
        b.place(start)
        outside = b.value(f"icmp uge i64 {b.elements(address, size)}, {self.size // size}")
        b.branch(outside, wrong, right, unlikely=True)
        b.place(wrong)
        b.branch(b.someone(mask), fault, right)
        b.place(fault)
        generic = b.value(f"add i64 {address}, {LOCAL_WINDOW}")
        self.access.fail(site, b.splat("i64", generic), mask)
        b.place(right)
        return b.phi("i64", (address, start), ("0", wrong))

    def _bits(self, address: str, offset: int, size: int) -> str:
        """An element of so many bytes, as an integer."""
        b = self.builder
        if size < 8:
            return b.load(f"i{8 * size}", self._place(address, offset), f", align {size}")
        low, high = (
            b.value(f"zext i32 {b.load('i32', self._place(address, offset + part), ', align 4')} to i64")
            for part in (0, 4)
        )
        return b.value(f"or i64 {low}, {b.value(f'shl i64 {high}, 32')}")

    def _place(self, address: str, offset: int) -> str:
        """Where the byte at `address + offset` lies."""
        b = self.builder
        byte = b.value(f"add i64 {address}, {offset}")
        row = b.value(f"shl i64 {b.value(f'and i64 {byte}, -4')}, 5")
        lane = b.value(f"shl i64 {b.load('i64', '%few_from')}, 2")
        within = b.value(f"or i64 {lane}, {b.value(f'and i64 {byte}, 3')}")
        return b.offset(b.offset("%local", row), within)
