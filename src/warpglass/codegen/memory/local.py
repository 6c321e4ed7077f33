"""Local memory: each thread's own bytes, interleaved over the lanes of a warp as a GPU interleaves them.

Word w (4 bytes) of lane l lies at (32 * w + l) * 4 from the start of the warp's local memory, so lanes that
use the same local address touch neighbouring words. An 8-byte element is two words, 128 bytes apart; smaller
ones are parts of a word, which no other lane has a share in. Local addresses are byte offsets; the same
checks as everywhere hold, against the kernel's local size.
"""

from __future__ import annotations

from ...isa.types import BITS
from ..builder import WIDTH, constant_vector
from ..context import LOCAL_WINDOW
from ..values.value import Value, replace
from .access import Access
from .indexed import Indexed


class LocalMemory:
    """Emits accesses to local memory of `size` bytes a thread.

    `strays` are the steps whose generic accesses may reach it; the helpers of runtime.py serve those. Once
    checked, an address is the i64 that all lanes have or a vector of i32.
    """

    def __init__(self, access: Access, size: int, strays: frozenset[int] = frozenset()):
        self.access = access
        self.builder = access.builder
        self.size = size
        self.strays = strays

    def may_be_meant(self, space: str) -> bool:
        """Whether the current step's access in a state space may be one to local memory."""
        return space == "local" or (space == "generic" and self.access.step in self.strays)

    def lanes(self) -> str:
        """The lanes' numbers in their warp, a vector of i32."""
        return constant_vector("i32", range(WIDTH))

    # ------------------------------------------------------------------------------------ whole accesses
    def load(
        self, site: int, address: Value, type_: str, count: int, mask: str, indexed: Indexed | None = None
    ) -> list[str]:
        """`count` neighbouring elements; the address is a vector or the same for all lanes.

        `indexed` says what a vector is made of, if that is known.
        """
        at, mask = self._check(site, address, indexed, mask)
        step = BITS[type_] // 8
        found = [self._load_element(at, k * step, type_, mask) for k in range(count)]
        if self.access.refuse is None:
            return found
        b = self.builder  # lanes that were refused get zero
        served, whole = f"{b.vector('i1')} {b.mask_vector(mask)}", b.vector(type_)
        return [b.value(f"select {served}, {whole} {one}, {whole} zeroinitializer") for one in found]

    def store(
        self,
        site: int,
        address: Value,
        type_: str,
        values: list[str],
        mask: str,
        indexed: Indexed | None = None,
    ) -> None:
        """Neighbouring elements; the address is a vector or the same for all lanes."""
        at, mask = self._check(site, address, indexed, mask)
        step = BITS[type_] // 8
        for k, value in enumerate(values):
            self._store_element(at, k * step, type_, value, mask)

    def _check(self, site: int, address: Value, indexed: Indexed | None, mask: str) -> tuple[Value, str]:
        """Fault if an active lane leaves its local memory or is misaligned; the address and lanes to serve.

        Where refused accesses are left out, those are the lanes that may make theirs.
        """
        b = self.builder
        outside, at = self._outside(address, indexed, self.access.sites[site].size)
        bad = (
            b.value(f"select i1 {outside}, {b.lanes} {mask}, {b.lanes} 0")
            if at.uniform
            else b.votes(outside, mask)
        )
        wrong, right = b.label("outside"), b.label("inside")
        b.branch(b.someone(bad), wrong, right, unlikely=True)
        b.place(wrong)
        words = b.vector("i64")
        everywhere = b.splat("i64", address.ir) if address.uniform else address.ir
        generic = b.value(f"add {words} {everywhere}, splat (i64 {LOCAL_WINDOW})")
        if self.access.refuse is None:
            self.access.fail(site, generic, bad)
            b.place(right)
        else:
            self.access.leave_out(site, generic, bad)
            b.jump(right)
            b.place(right)
            mask = b.value(f"and {b.lanes} {mask}, {b.value(f'xor {b.lanes} {bad}, -1')}")
        if not at.uniform:  # others are not served at all
            return at, mask
        # Where no lane acts, the address may be any.
        return replace(at, ir=b.value(f"select i1 {outside}, i64 0, i64 {at.ir}")), mask

    def _outside(self, address: Value, indexed: Indexed | None, size: int) -> tuple[str, Value]:
        """Which lanes may not make their access, and the address as it is used if it is right."""
        b = self.builder
        words = b.vector("i32")
        known = None if indexed is None else indexed.signed(b)
        limits = None if known is None else known.limits(self.size, size)
        if known is not None and limits is not None:
            first, last = limits
            moved = b.value(f"sub {words} {known.numbers}, splat (i32 {first})")
            outside = b.value(f"icmp ugt {words} {moved}, splat (i32 {last - first})")
            at = b.value(f"shl {words} {known.numbers}, splat (i32 {known.shift})")
            return outside, Value("i32", b.value(f"add {words} {at}, splat (i32 {known.distance})"))
        lanes = 1 if address.uniform else b.width
        whole, limit = "i64" if lanes == 1 else b.vector("i64"), str(self.size // size)
        turned = b.elements(address.ir, size, lanes)
        limit = limit if lanes == 1 else b.splat("i64", limit)
        outside = b.value(f"icmp uge {whole} {turned}, {limit}")
        if lanes == 1:
            return outside, address
        return outside, Value("i32", b.value(f"trunc {whole} {address.ir} to {words}"))

    # ------------------------------------------------------------------------------------ elements
    def _load_element(self, at: Value, offset: int, type_: str, mask: str) -> str:
        b, bits = self.builder, BITS[type_]
        whole = b.vector(type_)
        if bits == 64:
            low, high = (self._load_word(at, offset + part, mask) for part in (0, 4))
            picks = (k // 2 + b.width * (k % 2) for k in range(2 * b.width))
            both = b.shuffle("i32", b.width, low, picks, high)
            return b.value(f"bitcast <{2 * b.width} x i32> {both} to {whole}")
        word = self._load_word(at, offset, mask)
        if bits < 32:
            words, narrow = b.vector("i32"), b.vector(f"i{bits}")
            part = b.value(f"lshr {words} {word}, {self._within(at, offset)}")
            word = b.value(f"trunc {words} {part} to {narrow}")
            return word if type_[0] == "i" else b.value(f"bitcast {narrow} {word} to {whole}")
        return word if type_ == "i32" else b.value(f"bitcast {b.vector('i32')} {word} to {whole}")

    def _store_element(self, at: Value, offset: int, type_: str, value: str, mask: str) -> None:
        b, bits = self.builder, BITS[type_]
        if bits == 64:
            halves = b.value(f"bitcast {b.vector(type_)} {value} to <{2 * b.width} x i32>")
            for part in (0, 1):
                half = b.shuffle("i32", 2 * b.width, halves, range(part, 2 * b.width, 2))
                self._store_word(at, offset + 4 * part, half, mask)
            return
        if type_[0] != "i":
            value = b.value(f"bitcast {b.vector(type_)} {value} to {b.vector(f'i{bits}')}")
        if bits < 32:
            word = self._load_word(at, offset, mask)
            value = self._inserted(word, value, bits, self._within(at, offset))
        self._store_word(at, offset, value, mask)

    def _inserted(self, word: str, value: str, bits: int, within: str) -> str:
        """Words with other bits `within` them (how many bits before these, of each lane)."""
        b = self.builder
        words = b.vector("i32")
        wide = b.value(f"zext {b.vector(f'i{bits}')} {value} to {words}")
        moved = b.value(f"shl {words} {wide}, {within}")
        taken = b.value(f"shl {words} splat (i32 {(1 << bits) - 1}), {within}")
        others = b.value(f"and {words} {word}, {b.value(f'xor {words} {taken}, splat (i32 -1)')}")
        return b.value(f"or {words} {others}, {moved}")

    def _within(self, at: Value, offset: int) -> str:
        """Bits before an element in its word, of all lanes."""
        b = self.builder
        words = b.vector("i32")
        place = b.splat("i32", b.value(f"trunc i64 {at.ir} to i32")) if at.uniform else at.ir
        moved = b.value(f"add {words} {place}, splat (i32 {offset})")
        byte = b.value(f"and {words} {moved}, splat (i32 3)")
        return b.value(f"shl {words} {byte}, splat (i32 3)")

    # ------------------------------------------------------------------------------------ words
    def _load_word(self, at: Value, offset: int, mask: str) -> str:
        if at.uniform:
            return self.builder.load(self.builder.vector("i32"), self._row(at, offset), ", align 4")
        return self.access.gather_by("%local", self._numbers(at, offset), 2, "i32", mask)

    def _store_word(self, at: Value, offset: int, word: str, mask: str) -> None:
        b = self.builder
        if at.uniform:
            b.masked_store("i32", b.width, word, self._row(at, offset), b.mask_vector(mask), align=4)
        else:
            self.access.scatter_by("%local", self._numbers(at, offset), 2, "i32", word, mask)

    def _row(self, at: Value, offset: int) -> str:
        """Where the word that has `at + offset` of lane 0 lies; the other lanes' follow."""
        b = self.builder
        byte = b.value(f"add i64 {at.ir}, {offset}") if offset else at.ir
        return b.offset("%local", b.value(f"shl i64 {b.value(f'and i64 {byte}, -4')}, 5"))

    def _numbers(self, at: Value, offset: int) -> str:
        """The words that have the bytes at `at + offset` of each lane, in their order in memory."""
        b = self.builder
        words = b.vector("i32")
        byte = b.value(f"add {words} {at.ir}, splat (i32 {offset})") if offset else at.ir
        row = b.value(f"shl {words} {b.value(f'and {words} {byte}, splat (i32 -4)')}, splat (i32 3)")
        return b.value(f"add {words} {row}, {self.lanes()}")
