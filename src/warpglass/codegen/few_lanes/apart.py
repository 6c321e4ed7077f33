"""One lane that goes through a region apart: it begins again where an access misses its range.

Nobody sees what such a lane does before it ends, so its code has no second way for each access. The ranges
that accesses are checked against are loaded where the lane begins. A helper finds the right one for an access
that misses its own, and the lane begins again; if that does not help, all lanes go together. So ranges do not
change in the region's loops. Of an address that is an index from a base which does not change either, neither
does the index at which the range begins, nor the base in host memory: one comparison of the index is left.

Changes of memory that others may not see yet are kept (kept_changes.py), which the lane's own loads do not
see either: if one is from a range that is changed, all lanes go together.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...isa.lanes import Update
from ...isa.types import BITS
from ..builder import Builder
from ..context import READ, SITE_WORDS, SLOT, WRITE
from ..lanes.arithmetic import Operands
from ..lanes.fast import FastLanes
from ..registers import Registers
from ..values.known_bits import lane_zeros
from ..values.results import Result
from ..values.value import Value, signed
from .find import Form
from .kept_changes import KeptChanges
from .lanes import FewLanes, FewRegisters

# How often a lane begins again, besides once for each range.
_AGAIN = 4


class ApartRegisters(FewRegisters):
    """The registers of one lane; `bases` are those that are `steady`, by the names of their values."""

    def __init__(self, builder: Builder, warp: Registers, form: Form, steady: set[str]):
        super().__init__(builder, warp, form)
        self._steady = steady
        self.bases: dict[str, str] = {}

    def read(self, name: str) -> Value:
        value = super().read(name)
        if name in self._steady:
            self.bases[value.ir] = name
        return value


class ApartLanes(FewLanes):
    """The vocabulary for one lane apart; `bases` are its steady registers."""

    kept: KeptChanges

    def __init__(self, like: FastLanes, form: Form):
        super().__init__(like, form)
        self.bases: dict[str, str] = {}
        self._sums: dict[str, Operands] = {}  # operands by the name of their sum
        self._sites: dict[tuple[str, int, bool], int] = {}  # by base and size, and whether they are changed
        self._ranges: dict[int, tuple[int, bool]] = {}  # sizes by site, and whether the range is changed
        self.sites: dict[int, int] = {}  # sites of loads, by step
        self._missed: list[tuple[str, Sequence[str]]] = []  # labels, and what `@wg_learn_range` is asked
        self._begin = 0

    # ------------------------------------------------------------------------------------ the whole function
    def begin(self) -> None:
        """Where the lane begins, once more or for the first time."""
        b = self.builder
        b.store("i64", "0", "%again")
        b.jump("begin")
        b.place("begin")
        self._begin = len(b.lines)
        b.place("apart")

    def finish(self) -> None:
        """Load all ranges where the lane begins, and serve accesses that have missed theirs."""
        b = self.builder
        body = b.lines[self._begin :]
        del b.lines[self._begin :]
        b.lines += [line for site in self._ranges for line in self._range(site)]
        b.branch(self._sees_changes(), "give_up", "apart", unlikely=True)
        b.lines += body
        b.place("give_up")
        b.store("i64", "0", b.offset("%context", 8 * SLOT["fault_lane"]))
        b.jump("fault")
        if not self._missed:
            return
        b.place("missed")
        args = [("ptr", "%context")]
        for k, type_ in enumerate(("ptr", "i64", "i64", "i64", "i1")):
            args.append((type_, b.phi(type_, *((asked[k], label) for label, asked in self._missed))))
        found = b.call("i1", "wg_learn_range", args)
        times = b.value(f"add i64 {b.load('i64', '%again')}, 1")
        b.store("i64", times, "%again")
        seldom = b.value(f"icmp ule i64 {times}, {_AGAIN + len(self._ranges)}")
        b.branch(b.value(f"and i1 {found}, {seldom}"), "begin", "give_up")

    def _sees_changes(self) -> str:
        """An i1 that holds if what is loaded may be what is changed."""
        b, found = self.builder, "false"
        ends = {
            site: b.value(f"add i64 %low_{site}, {b.value(f'mul i64 %limit_{site}, {size}')}")
            for site, (size, _) in self._ranges.items()
            if any(changed for _, changed in self._ranges.values())
        }
        for one in ends:
            for other in ends:
                if self._ranges[one][1] and not self._ranges[other][1]:
                    begins = b.value(f"icmp ult i64 %low_{one}, {ends[other]}")
                    goes_on = b.value(f"icmp ult i64 %low_{other}, {ends[one]}")
                    found = b.value(f"or i1 {found}, {b.value(f'and i1 {begins}, {goes_on}')}")
        return found

    def _range(self, site: int) -> list[str]:
        names = ("low", "limit", "delta")
        place, lines = site * SITE_WORDS * 8, list[str]()
        for k, name in enumerate(names):
            lines.append(f"  %{name}_{site}.p = getelementptr i8, ptr %sites, i64 {place + 8 * k}")
            lines.append(f"  %{name}_{site} = load i64, ptr %{name}_{site}.p")
        return lines

    # ------------------------------------------------------------------------------------ addresses
    def _made(self, found: Result, name: str, type_: str = "") -> Value:
        made = super()._made(found, name, type_)
        if name == "add" and made.type == "i64" and found[2]:  # else it is an older value
            self._sums[made.ir] = found[2]
        return made

    def _parts_of(self, address: Value) -> tuple[str, Value, int] | None:
        """A steady base, an index in bytes and a constant whose sum is an address."""
        base, distance = "", 0
        while address.ir in self._sums:
            one, other = self._sums[address.ir]
            if other.constant is None and one.constant is not None:
                one, other = other, one
            if other.constant is not None:
                distance += signed(other.constant, 64)
            elif base:
                break
            elif other.ir in self.bases:
                base = other.ir
            elif one.ir in self.bases:
                base, one = one.ir, other
            else:
                break
            address = one
        return (base, address, distance) if base else None

    # ------------------------------------------------------------------------------------ accesses
    def _load(self, space: str, address: Value, type_: str, count: int) -> tuple[Value, ...]:
        if space in ("local", "shared"):
            return super()._load(space, address, type_, count)
        address = self.exact(address)
        step = BITS[type_] // 8
        host = self._host(space, address, step * count)
        b = self.builder
        names = [b.load(type_, b.offset(host, k * step), ", align 1") for k in range(count)]
        return tuple(Value(type_, name, self.same) for name in names)

    def _replace(
        self, space: str, change: str | Update, address: Value, given: Sequence[tuple[Value, ...]]
    ) -> tuple[Value, ...]:
        """A change whose result nobody reads."""
        ((operand,),) = (self.all_exact(operands) for operands in given)
        assert isinstance(change, str), "what commutes has a name"
        b = self.builder
        acts, on = b.label("acts"), b.label("on")
        b.branch(b.someone(self.mask), acts, on)
        b.place(acts)
        host = self._host(space, self.exact(address), BITS[operand.type] // 8, change=True)
        self.kept.keep(change, operand.type, host, operand.ir, "give_up")
        b.jump(on)
        b.place(on)
        return (operand,)

    def _host(self, space: str, address: Value, size: int, *, change: bool = False) -> str:
        """The host pointer of an access, which is checked."""
        b, parts = self.builder, self._parts_of(address)
        shift = size.bit_length() - 1
        if parts is None or lane_zeros(parts[1]) < shift or parts[2] % size:
            site = self._site(space, size, "", change)
            place = b.value(f"sub i64 {address.ir}, %low_{site}")
            outside = b.value(f"icmp uge i64 {b.elements(place, size)}, %limit_{site}")
            host = b.value(f"add i64 {address.ir}, %delta_{site}")
        else:
            base, index, distance = parts
            site = self._site(space, size, self.bases[base], change)
            start = b.value(f"sub i64 {base}, %low_{site}")
            bytes_ = b.value(f"shl i64 %limit_{site}, {shift}")
            aligned = b.value(f"icmp eq i64 {b.value(f'and i64 {start}, {size - 1}')}, 0")
            limit = b.value(f"select i1 {aligned}, i64 {bytes_}, i64 0")
            first = b.value(f"add i64 {start}, {distance}")
            place = b.value(f"add i64 {index.ir}, {first}")
            outside = b.value(f"icmp uge i64 {place}, {limit}")
            there = b.value(f"add i64 {base}, %delta_{site}")
            host = b.value(f"add i64 {index.ir}, {b.value(f'add i64 {there}, {distance}')}")
        self.sites[self.access.step] = site
        inside, miss = b.label("inside"), b.label("miss")
        b.branch(outside, miss, inside, unlikely=True)
        b.place(miss)
        generic, use = "true" if space == "generic" else "false", READ | WRITE if change else READ
        missed = b.value(f"add i64 {place}, %low_{site}")  # so the address is needed nowhere else
        asked = (b.offset("%sites", site * SITE_WORDS * 8), missed, str(size), str(use), generic)
        self._missed.append((miss, asked))
        b.jump("missed")
        b.place(inside)
        return b.value(f"inttoptr i64 {host} to ptr")

    def _site(self, space: str, size: int, base: str, change: bool) -> int:
        """The site whose range an access is checked against: all from one base share it."""
        known = self._sites.get((base, size, change)) if base else None
        if known is not None:
            return known
        site = self.access.new_site(space, change, size)
        self._ranges[site] = size, change
        if base:
            self._sites[base, size, change] = site
        return site
