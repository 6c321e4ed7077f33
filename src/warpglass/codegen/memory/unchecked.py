"""Loads and stores of a warp's lanes through host addresses, each lane its own, that were checked before."""

from __future__ import annotations

from collections.abc import Callable

from ...isa.types import BITS
from ..builder import WIDTH, Builder
from ..machine.target import gathers_quickly
from .gather_scatter import (
    gather_at_once,
    gather_by_index,
    gather_through,
    pick_name,
    pointers_of,
    scatter_at_once,
    scatter_by_index,
)
from .narrow_vectors import element_of, words_of
from .records import MOST, is_record, load_records


class Unchecked:
    """Emits them: instructions where the processor has quick ones, else calls of outlined functions.

    `fetches`, `scatters` (types) and `picks` (type, power of two that an index stands for) are the functions
    that are called, `records` how many loads are of records, warps that run together counted each.
    """

    def __init__(self, builder: Builder):
        self.builder = builder
        self.fetches: set[str] = set()
        self.records = 0
        self.picks: set[tuple[str, int]] = set()
        self.scatters: set[str] = set()

    def gather(self, address: str, delta: str, type_: str, count: int, mask: str) -> list[str]:
        """Checked loads from any addresses."""
        b = self.builder
        host = b.value(f"add {b.vector('i64')} {address}, {b.splat('i64', delta)}")
        if self.takes_records(type_, count):
            return load_records(b, self._pointers(host, type_, 0), type_, count, mask)

        def load(k: int, of: str) -> str:
            return self.gather_one(self._pointers(host, of, k), of, mask)

        return self._by_words(type_, count, load)

    def _by_words(self, type_: str, count: int, load: Callable[[int, str], str]) -> list[str]:
        """Neighbouring elements of each lane, loaded one by one or, those of 32 bits, two at a time.

        `load` takes a number and the type of what has it.
        """
        if BITS[type_] != 32 or count % 2:
            return [load(k, type_) for k in range(count)]
        words = [load(k, "i64") for k in range(count // 2)]
        return [element_of(self.builder, word, type_, 2, k) for word in words for k in (0, 1)]

    def takes_records(self, type_: str, count: int) -> bool:
        """Whether one more load of so many elements of each lane is one of records."""
        if not is_record(type_, count) or self.records >= MOST:
            return False
        self.records += max(1, self.builder.width // WIDTH)
        return True

    def gather_one(self, pointers: str, type_: str, mask: str) -> str:
        """A load through a host pointer for each lane; inactive lanes get zero."""
        if gathers_quickly() and BITS[type_] >= 32:
            return gather_at_once(self.builder, pointers, type_, mask)
        self.fetches.add(type_)
        return gather_through(self.builder, pointers, type_, mask)

    def scatter(self, address: str, delta: str, type_: str, values: list[str], mask: str) -> None:
        """Checked stores to any addresses."""
        b = self.builder
        host = b.value(f"add {b.vector('i64')} {address}, {b.splat('i64', delta)}")
        if BITS[type_] == 32 and len(values) % 2 == 0:
            values = [words_of(b, type_, pair) for pair in zip(values[::2], values[1::2], strict=True)]
            type_ = "i64"
        for k, value in enumerate(values):
            self.scatter_one(self._pointers(host, type_, k), type_, value, mask)

    def scatter_one(self, pointers: str, type_: str, value: str, mask: str) -> None:
        """A store through a host pointer for each lane; the highest lane wins a shared address."""
        b = self.builder
        if gathers_quickly() and BITS[type_] >= 32:
            scatter_at_once(b, pointers, type_, value, mask)
            return
        self.scatters.add(type_)
        args = [(b.vector(type_), value), (b.vector("ptr"), pointers), (b.lanes, mask)]
        b.call("void", f"wg_scatter_{type_}", args)

    def gather_by(self, host: str, numbers: str, shift: int, type_: str, mask: str) -> str:
        """A load for each lane, `numbers` (a vector of i32) times 2^shift bytes from a host pointer."""
        b = self.builder
        if gathers_quickly() and BITS[type_] >= 32:
            return gather_by_index(b, host, numbers, shift, type_, mask)
        self.picks.add((type_, shift))
        args = [("ptr", host), (b.vector("i32"), numbers), (b.lanes, mask)]
        return b.call(b.vector(type_), pick_name(type_, shift), args)

    def scatter_by(self, host: str, numbers: str, shift: int, type_: str, value: str, mask: str) -> None:
        """A store for each lane, `numbers` (a vector of i32) times 2^shift bytes from a host pointer."""
        b = self.builder
        if gathers_quickly() and BITS[type_] >= 32:
            scatter_by_index(b, host, numbers, shift, type_, value, mask)
            return
        pointers = pointers_of(b, host, f"{b.vector('i32')} {numbers}", shift)
        self.scatter_one(pointers, type_, value, mask)

    def _pointers(self, host: str, type_: str, element: int) -> str:
        b = self.builder
        if element:
            host = b.value(f"add {b.vector('i64')} {host}, splat (i64 {element * BITS[type_] // 8})")
        return b.value(f"inttoptr {b.vector('i64')} {host} to {b.vector('ptr')}")
