"""Local memory: each thread's own bytes, interleaved over the lanes of a warp as a GPU interleaves them.

Word w (4 bytes) of lane l lies at (32 * w + l) * 4 from the start of the warp's local memory, so lanes that
use the same local address touch neighbouring words. An 8-byte element is two words, 128 bytes apart. Local
addresses are byte offsets; the same checks as everywhere hold, against the kernel's local size.
"""

from __future__ import annotations

from ...isa.types import BITS
from ..builder import constant_vector, vector
from ..context import LOCAL_WINDOW
from ..values.value import Value, replace
from .access import Access


class LocalMemory:
    """Emits accesses to local memory of `size` bytes a thread.

    `strays` are the steps whose generic accesses may reach it; the helpers of runtime.py serve those.
    """

    def __init__(self, access: Access, size: int, strays: frozenset[int] = frozenset()):
        self.access = access
        self.builder = access.builder
        self.size = size
        self.strays = strays

    def may_be_meant(self, space: str) -> bool:
        """Whether the current step's access in a state space may be one to local memory."""
        return space == "local" or (space == "generic" and self.access.step in self.strays)

    # ------------------------------------------------------------------------------------ whole accesses
    def load(self, site: int, address: Value, type_: str, count: int, mask: str) -> list[str]:
        """`count` neighbouring elements; the address is a vector or the same for all lanes."""
        address, mask = self._check(site, address, mask)
        step = BITS[type_] // 8
        found = [self._load_element(address, k * step, type_, mask) for k in range(count)]
        if self.access.refuse is None:
            return found
        b = self.builder  # lanes that were refused get zero
        served, whole = b.mask_vector(mask), b.vector(type_)
        return [
            b.value(f"select {b.vector('i1')} {served}, {whole} {one}, {whole} zeroinitializer")
            for one in found
        ]

    def store(self, site: int, address: Value, type_: str, values: list[str], mask: str) -> None:
        """Neighbouring elements; the address is a vector or the same for all lanes."""
        address, mask = self._check(site, address, mask)
        step = BITS[type_] // 8
        for k, value in enumerate(values):
            self._store_element(address, k * step, type_, value, mask)

    def _check(self, site: int, address: Value, mask: str) -> tuple[Value, str]:
        """Fault if an active lane leaves its local memory or is misaligned; the address and lanes to serve.

        Where refused accesses are left out, those are the lanes that may make theirs.
        """
        b = self.builder
        size = self.access.sites[site].size
        lanes = 1 if address.uniform else b.width
        whole = vector("i64", lanes)
        turned, limit = b.elements(address.ir, size, lanes), self.size // size
        outside = b.value(f"icmp uge {whole} {turned}, {limit if lanes == 1 else f'splat (i64 {limit})'}")
        if lanes == 1:
            bad = b.value(f"select i1 {outside}, {b.lanes} {mask}, {b.lanes} 0")
        else:
            bad = b.votes(outside, mask)
        wrong, right = b.label("outside"), b.label("inside")
        b.branch(b.someone(bad), wrong, right, unlikely=True)
        b.place(wrong)
        everywhere = b.splat("i64", address.ir) if lanes == 1 else address.ir
        generic = b.value(f"add {b.vector('i64')} {everywhere}, splat (i64 {LOCAL_WINDOW})")
        if self.access.refuse is None:
            self.access.fail(site, generic, bad)
        else:
            self.access.leave_out(site, generic, bad)
            b.jump(right)
        b.place(right)
        if self.access.refuse is not None:
            mask = b.value(f"and {b.lanes} {mask}, {b.value(f'xor {b.lanes} {bad}, -1')}")
        if lanes > 1:  # others are not served at all
            return address, mask
        # Where no lane acts, the address may be any.
        return replace(address, ir=b.value(f"select i1 {outside}, i64 0, i64 {address.ir}")), mask

    # ------------------------------------------------------------------------------------ elements
    def _load_element(self, address: Value, offset: int, type_: str, mask: str) -> str:
        b = self.builder
        if BITS[type_] == 64:
            low, high = (self._load_word(address, offset + part, mask) for part in (0, 4))
            lanes = b.width
            both = b.shuffle("i32", lanes, low, (k // 2 + lanes * (k % 2) for k in range(2 * lanes)), high)
            return b.value(f"bitcast {vector('i32', 2 * lanes)} {both} to {b.vector(type_)}")
        if BITS[type_] == 32:
            word = self._load_word(address, offset, mask)
            return (
                word if type_ == "i32" else b.value(f"bitcast {b.vector('i32')} {word} to {b.vector(type_)}")
            )
        return self.access.gather_one(self._pointers(address, offset), type_, mask)

    def _load_word(self, address: Value, offset: int, mask: str) -> str:
        if address.uniform:
            return self.builder.load("<32 x i32>", self._row(address, offset), ", align 4")
        return self.access.gather_one(self._pointers(address, offset), "i32", mask)

    def _store_element(self, address: Value, offset: int, type_: str, value: str, mask: str) -> None:
        b = self.builder
        if BITS[type_] == 64:
            lanes = 2 * b.width
            words = b.value(f"bitcast {b.vector(type_)} {value} to {vector('i32', lanes)}")
            for part in (0, 1):
                half = b.shuffle("i32", lanes, words, range(part, lanes, 2))
                self._store_word(address, offset + 4 * part, half, mask)
        elif BITS[type_] == 32:
            word = (
                value
                if type_ == "i32"
                else b.value(f"bitcast {b.vector(type_)} {value} to {b.vector('i32')}")
            )
            self._store_word(address, offset, word, mask)
        else:
            self.access.scatter_one(self._pointers(address, offset), type_, value, mask)

    def _store_word(self, address: Value, offset: int, word: str, mask: str) -> None:
        b = self.builder
        if not address.uniform:
            self.access.scatter_one(self._pointers(address, offset), "i32", word, mask)
            return
        b.masked_store("i32", 32, word, self._row(address, offset), b.mask_vector(mask), align=4)

    def _row(self, address: Value, offset: int) -> str:
        """Where word `address + offset` of lane 0 lies; the other lanes' follow."""
        b = self.builder
        start = b.value(f"shl i64 {address.ir}, 5")  # addresses of words are multiples of 4
        return b.offset(b.offset("%local", start), 32 * offset)

    def _pointers(self, address: Value, offset: int) -> str:
        """Each lane's host pointer to the bytes at `address + offset`, which lie within one word."""
        b = self.builder
        words = b.vector("i64")
        at = b.splat("i64", address.ir) if address.uniform else address.ir
        if offset:
            at = b.value(f"add {words} {at}, splat (i64 {offset})")
        word = b.value(f"and {words} {at}, splat (i64 -4)")
        within = b.value(f"and {words} {at}, splat (i64 3)")
        row = b.value(f"shl {words} {word}, splat (i64 5)")
        lane = b.value(f"or {words} {within}, {self._lanes()}")
        return b.value(f"getelementptr i8, ptr %local, {words} {b.value(f'add {words} {row}, {lane}')}")

    def _lanes(self) -> str:
        """Where each lane's bytes of a word begin."""
        return constant_vector("i64", range(0, 128, 4))
