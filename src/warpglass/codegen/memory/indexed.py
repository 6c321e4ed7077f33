"""Accesses by 32-bit indices: addresses that are one scalar plus a number of each lane times a power of two.

Twice as many indices as addresses fit into a register, the processor's gather takes them as they are, and
one comparison a register finds those outside: the range that a site hit last, in indices from the scalar,
is an interval of which two scalars tell the start and the length.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...isa.types import BITS
from ..builder import Builder
from .gather_scatter import pointers_of
from .interval_checks import IntervalChecks
from .records import load_records
from .sites import Bounds

# The greatest index of an access: a few less than there are, as some are counted from an aligned word.
_MAX = (1 << 31) - 4


@dataclass(frozen=True, slots=True)
class Anywhere:
    """Addresses of which nothing is known: a vector of i64."""

    numbers: str
    type: str = "i64"  # of the numbers

    def apart(self, size: int) -> int:
        """How far the numbers of elements side by side of so many bytes are apart."""
        return size

    def first(self, b: Builder, number: str, apart: int) -> tuple[str, str]:
        """The address that a scalar number stands for, and an i1: the lanes behind it may be elsewhere."""
        return number, "false"

    def before(self, b: Builder, distance: int) -> Anywhere:
        """The addresses so many bytes in front of these."""
        if not distance:
            return self
        return Anywhere(b.value(f"sub {b.vector('i64')} {self.numbers}, splat (i64 {distance})"))

    def addresses(self, b: Builder) -> str:
        """All lanes' addresses, a vector of i64."""
        return self.numbers


@dataclass(frozen=True, slots=True)
class Indexed:
    """Addresses `base + distance + (number << shift)`: an i64 scalar, a constant and a vector of i32.

    Numbers are signed or, if `unsigned` says so, not; `zeros` of their low bits are known to be zero, and
    `least` and `most` bound them where bounds are known.
    """

    base: str
    distance: int
    numbers: str
    shift: int
    zeros: int
    unsigned: bool = False
    least: int = -(1 << 31)
    most: int = (1 << 31) - 1
    type: str = "i32"

    def signed(self, b: Builder) -> Indexed:
        """The same with signed numbers."""
        if not self.unsigned:
            return self
        numbers = b.value(f"xor {b.vector('i32')} {self.numbers}, splat (i32 {-(1 << 31)})")
        return Indexed(self.base, self.distance + (1 << 31 + self.shift), numbers, self.shift, self.zeros)

    def serves(self, size: int) -> bool:
        """Whether elements of so many bytes are aligned wherever that at number 0 is."""
        return size <= 1 << self.shift + self.zeros

    def limits(self, bytes_: int, size: int) -> tuple[int, int] | None:
        """The first and the last number of elements within so many bytes at address 0; None if unknown."""
        if self.base != "0" or not self.serves(size) or self.distance % size:
            return None
        first = max(-(self.distance >> self.shift), -(1 << 31))
        last = min((bytes_ - size - self.distance) >> self.shift, _MAX)
        return (first, last) if first <= last else None

    def start(self, b: Builder) -> str:
        """The address at number 0."""
        return b.value(f"add i64 {self.base}, {self.distance}") if self.distance else self.base

    def apart(self, size: int) -> int:
        """How far the numbers of elements side by side of so many bytes are apart; 0: that cannot be."""
        return size >> self.shift

    def first(self, b: Builder, number: str, apart: int) -> tuple[str, str]:
        """The address that a scalar number stands for, and an i1: the lanes behind it may be elsewhere."""
        wraps = b.value(f"icmp sgt i32 {number}, {_MAX - apart * b.width}")
        moved = b.value(f"shl i64 {b.value(f'sext i32 {number} to i64')}, {self.shift}")
        return b.value(f"add i64 {self.start(b)}, {moved}"), wraps

    def before(self, b: Builder, distance: int) -> Indexed:
        """The addresses so many bytes in front of these."""
        return replace(self, distance=self.distance - distance)

    def addresses(self, b: Builder) -> str:
        """All lanes' addresses, a vector of i64."""
        words = b.vector("i64")
        wide = b.value(f"sext {b.vector('i32')} {self.numbers} to {words}")
        moved = b.value(f"shl {words} {wide}, splat (i64 {self.shift})")
        return b.value(f"add {words} {moved}, {b.splat('i64', self.start(b))}")


class IndexedAccess(IntervalChecks):
    """Checks and gathers of addresses that may be indexed."""

    def best_known(self, site: int, address: str, indexed: Indexed | None) -> Anywhere | Indexed:
        """What of an address, a vector, is of use to a site; `indexed` is what it is made of, if known."""
        if indexed is None or not (self.declared or indexed.serves(self.sites[site].size)):
            return Anywhere(address)
        return indexed.signed(self.builder)

    def check(self, site: int, at: Anywhere | Indexed, mask: str, *, behind: int = 0) -> tuple[str, Bounds]:
        """An i1 that holds if some active lane is outside the site's range, and that range.

        A lane is also outside if it has fewer than so many elements of the range `behind` it.
        """
        if isinstance(at, Anywhere) or self.declared:
            return self._check_vector(site, at.numbers, mask, behind=behind)
        b, bounds, size = self.builder, self.bounds(site), self.sites[site].size
        start = at.start(b)
        distance = start if bounds.low == "0" else b.value(f"sub i64 {start}, {bounds.low}")
        before = b.intrinsic("ssub.sat", "i64", "0", b.value(f"ashr i64 {distance}, {at.shift}"))
        first = b.intrinsic("smax", "i64", before, str(-(1 << 31)))
        last = b.value(f"mul i64 {b.value(f'sub i64 {bounds.limit}, {1 + behind}')}, {size}")
        last = b.value(f"ashr i64 {b.intrinsic('ssub.sat', 'i64', last, distance)}, {at.shift}")
        last = b.intrinsic("smin", "i64", last, str(_MAX))
        room = b.value(f"sub i64 {last}, {first}")
        bad = b.value(f"icmp slt i64 {last}, {first}")
        if size > 1:
            misaligned = b.value(f"icmp ne i64 {b.value(f'and i64 {distance}, {size - 1}')}, 0")
            bad = b.value(f"or i1 {bad}, {misaligned}")
        whole = b.vector("i32")
        low, room = (b.splat("i32", b.value(f"trunc i64 {one} to i32")) for one in (first, room))
        moved = b.value(f"sub {whole} {at.numbers}, {low}")
        outside = b.someone(b.votes(b.value(f"icmp ugt {whole} {moved}, {room}"), mask))
        return b.value(f"or i1 {bad}, {outside}"), bounds

    def gather_from(
        self, at: Anywhere | Indexed, bounds: Bounds, type_: str, count: int, mask: str
    ) -> list[str]:
        """`count` neighbouring elements from checked addresses; inactive lanes get zero."""
        if isinstance(at, Anywhere):
            return self.gather(at.numbers, bounds.delta, type_, count, mask)
        host = self._host(at.start(self.builder), bounds)
        if self.takes_records(type_, count):
            index = f"{self.builder.vector('i32')} {at.numbers}"
            pointers = pointers_of(self.builder, host, index, at.shift)
            return load_records(self.builder, pointers, type_, count, mask)

        def load(k: int, of: str) -> str:
            place = self.builder.offset(host, k * BITS[of] // 8)
            return self.gather_by(place, at.numbers, at.shift, of, mask)

        return self._by_words(type_, count, load)

    def scatter_to(self, at: Anywhere | Indexed, bounds: Bounds, type_: str, value: str, mask: str) -> None:
        """Store to checked addresses; the highest lane wins a shared address."""
        if isinstance(at, Anywhere):
            self.scatter(at.numbers, bounds.delta, type_, [value], mask)
            return
        host = self._host(at.start(self.builder), bounds)
        self.scatter_by(host, at.numbers, at.shift, type_, value, mask)


def either(b: Builder, one: str, other: str) -> str:
    """An i1 that holds if one of two does."""
    return other if one == "false" else b.value(f"or i1 {one}, {other}")
