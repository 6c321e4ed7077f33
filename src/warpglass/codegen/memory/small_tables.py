"""Loads from small tables: where an index has bounds so close that registers hold all it may reach.

Digits of an encoding, a codebook, the substitutions of a cipher, offsets of neighbours: the whole table is
loaded, and each lane picks its element from the registers. That is a quarter of what a gather takes, and
bytes and halves have no gather at all. Where the whole table does not lie in one range, lanes are served as
anywhere. So they are where one of them leaves a shared variable (shared_tables.py), of which only the size is
known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...isa.types import BITS
from ..builder import Builder, constant_vector, vector
from ..machine.target import masks_bytes, picks_bits, picks_words
from .any_form import AnyForm
from .indexed import Indexed
from .shared_tables import SharedTables
from .sites import DECLARED, Bounds

_REGISTER = 64  # bytes of a register of AVX-512
_MOST = 8  # registers that a table takes


@dataclass(frozen=True, slots=True)
class _Table:
    """So many elements of `size` bytes from an address on: lanes have those at `scale` times their numbers.

    The first one is that of the `least` number.
    """

    start: str
    elements: int
    size: int
    scale: int
    least: int

    @property
    def each(self) -> int:
        """Elements of a register."""
        return _REGISTER // self.size

    def missed(self, b: Builder, numbers: str, mask: str) -> str:
        """An i1 that holds if the number of some lane that acts is not one of an element."""
        words, count = b.vector("i32"), (self.elements - 1) // self.scale + 1
        if self.least:
            numbers = b.value(f"sub {words} {numbers}, splat (i32 {self.least})")
        return b.someone(b.votes(b.value(f"icmp uge {words} {numbers}, splat (i32 {count})"), mask))


class SmallTables(AnyForm):
    """Emits accesses of every form; loads by indices of few elements from registers."""

    def __init__(self, builder: Builder):
        super().__init__(builder)
        self.shared_tables = SharedTables()

    def load_any(
        self, site: int, address: str, type_: str, count: int, mask: str, indexed: Indexed | None = None
    ) -> list[str]:
        b, usual = self.builder, super().load_any
        found = (
            None if indexed is None or count > 1 else self._find_table(site, indexed, BITS[type_] // 8, mask)
        )
        if indexed is None or found is None:
            return usual(site, address, type_, count, mask, indexed)
        table, outside, bounds = found
        return self.load_either(
            outside,
            b.vector(type_),
            lambda: [_looked_up(b, table, self._host(table.start, bounds), indexed.numbers, type_)],
            lambda: (usual(site, address, type_, count, mask, indexed), b.block),
        )

    def _find_table(
        self, site: int, indexed: Indexed, size: int, mask: str
    ) -> tuple[_Table, str, Bounds] | None:
        """The table of elements of so many bytes, an i1 that holds if some are not in it, and its range."""
        if size > 1 << indexed.shift:
            return None
        if _has_few(indexed, size):
            table, bounds = self._table(indexed, size), self.bounds(site)
            return table, self._leaves(table, bounds), bounds
        table = self._variable(indexed, size) if self.sites[site].space == "shared" else None
        return None if table is None else (table, table.missed(self.builder, indexed.numbers, mask), DECLARED)

    def _table(self, indexed: Indexed, size: int) -> _Table:
        b, scale = self.builder, (1 << indexed.shift) // size
        first = indexed.distance + (indexed.least << indexed.shift)
        start = b.value(f"add i64 {indexed.base}, {first}") if first else indexed.base
        return _Table(start, _reach(indexed, size), size, scale, indexed.least)

    def _leaves(self, table: _Table, bounds: Bounds) -> str:
        """An i1 that holds if a table is not in a range."""
        b = self.builder
        distance = table.start if bounds.low == "0" else b.value(f"sub i64 {table.start}, {bounds.low}")
        limit = b.intrinsic("usub.sat", "i64", bounds.limit, str(table.elements - 1))
        return b.value(f"icmp uge i64 {b.elements(distance, table.size)}, {limit}")

    def _variable(self, indexed: Indexed, size: int) -> _Table | None:
        """The shared variable that indices count from, if registers hold it."""
        variable = self.shared_tables.find(self.step, indexed.distance) if indexed.base == "0" else None
        if variable is None:
            return None
        start, bytes_ = variable
        before, scale = indexed.distance - start, (1 << indexed.shift) // size
        wraps = indexed.unsigned and before > 0
        if wraps or before % (1 << indexed.shift) or start % size or not _is_held(bytes_ // size, size):
            return None
        return _Table(str(start), bytes_ // size, size, scale, -(before >> indexed.shift))


def _reach(indexed: Indexed, size: int) -> int:
    """How many elements of a size lie between the first and the last that indices reach."""
    return ((indexed.most - indexed.least) << indexed.shift) // size + 1


def _has_few(indexed: Indexed, size: int) -> bool:
    """Whether registers hold all that indices reach.

    Indices that may be negative say mostly by -1 that nothing was found, and nothing lies there.
    """
    return not indexed.unsigned and indexed.least >= 0 and _is_held(_reach(indexed, size), size)


def _is_held(elements: int, size: int) -> bool:
    """Whether registers hold so many elements, and picking from them is quicker than a gather."""
    each = _REGISTER // size
    return 0 < elements <= min(_MOST, each // 2) * each and elements <= 1 << 8 * size and _permutes(size)


def _permutes(size: int) -> bool:
    """Whether the processor picks any elements of so many bytes from two registers of 64 bytes."""
    return {1: picks_bits, 2: masks_bytes, 4: picks_words, 8: picks_words}[size]()


def _looked_up(b: Builder, table: _Table, host: str, numbers: str, type_: str) -> str:
    """The elements that all lanes' numbers name."""
    integers, each = f"i{8 * table.size}", table.each
    registers = _registers(b, table, host)
    words = b.vector("i32")
    if table.least:
        numbers = b.value(f"sub {words} {numbers}, splat (i32 {table.least})")
    if table.scale > 1:
        numbers = b.value(f"shl {words} {numbers}, splat (i32 {table.scale.bit_length() - 1})")
    if integers != "i32":
        how = "zext" if table.size > 4 else "trunc"
        numbers = b.value(f"{how} {words} {numbers} to {b.vector(integers)}")
    parts: list[str] = []
    for first in range(0, b.width, each):
        own = (min(lane, b.width) for lane in range(first, first + each))
        picks = b.shuffle(integers, b.width, numbers, own) if b.width != each else numbers
        parts.append(_picked(b, registers, picks, table.size))
    found = b.joined(integers, parts, each)
    if b.width < each:
        found = b.shuffle(integers, each, found, range(b.width))
    whole = b.vector(type_)
    return found if type_ == integers else b.value(f"bitcast {b.vector(integers)} {found} to {whole}")


def _registers(b: Builder, table: _Table, host: str) -> list[str]:
    """The registers of a table, a power of two of them; what lies behind it is not loaded."""
    each, integers = table.each, f"i{8 * table.size}"
    found: list[str] = []
    for first in range(0, 1 << (table.elements - 1).bit_length(), each):
        where, left = b.offset(host, first * table.size), table.elements - first
        if left >= each:
            found.append(b.load(vector(integers, each), where, ", align 1"))
        elif left > 0:
            present = constant_vector("i1", (str(k < left).lower() for k in range(each)))
            found.append(b.masked_load(integers, each, where, present))
        else:
            found.append("zeroinitializer")
    return found


_NAMES = {1: ("qi", "qi"), 2: ("hi", "hi"), 4: ("si", "d"), 8: ("di", "q")}  # LLVM's, by bytes of an element


def _picked(b: Builder, registers: Sequence[str], picks: str, size: int) -> str:
    """An element of each lane, of registers one behind the other; higher bits of its number do not matter."""
    integers, each = f"i{8 * size}", _REGISTER // size
    whole = vector(integers, each)
    one, two = _NAMES[size]
    if len(registers) == 1:
        args = [(whole, registers[0]), (whole, picks)]
        return b.call(whole, f"llvm.x86.avx512.permvar.{one}.512", args)
    if len(registers) == 2:
        args = [(whole, registers[0]), (whole, picks), (whole, registers[1])]
        return b.call(whole, f"llvm.x86.avx512.vpermi2var.{two}.512", args)
    half = len(registers) // 2
    lower, upper = (_picked(b, some, picks, size) for some in (registers[:half], registers[half:]))
    bit = b.value(f"and {whole} {picks}, splat ({integers} {half * each})")
    behind = b.value(f"icmp ne {whole} {bit}, zeroinitializer")
    return b.value(f"select {vector('i1', each)} {behind}, {whole} {upper}, {whole} {lower}")
