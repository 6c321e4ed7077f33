"""The values, registers and accesses of few lanes: a scalar if all have one value, else a short vector.

Where gathers are slow, and for halves, accesses are made lane by lane: loads of all lanes at once, of which
those that do not act load from a place that is surely there, stores in the lanes' order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ...isa.lanes import Outline, Update
from ...isa.types import BITS
from ..builder import Arg, Builder, constant_vector
from ..context import SLOT
from ..lanes.fast import FastLanes
from ..machine.target import gathers_quickly
from ..memory.element_changes import ElementChange
from ..memory.gather_scatter import gather_at_once, gather_bytes, pointers_of, scatter_at_once
from ..memory.indexed import Indexed
from ..memory.sites import DECLARED, Bounds
from ..memory.warp_atomics import WarpAtomics
from ..registers import Registers
from ..values.choice import Choice
from ..values.known_bits import lane_zeros
from ..values.value import Value, no_offsets, one_value, replace
from .find import Form
from .local import LocalMemoryOfFew, LocalMemoryOfOne

# Bytes of memory that nobody reads, of each lane: as many as one stores.
_UNREAD = 64


class FewAccess(WarpAtomics):
    """Accesses of few lanes of a warp whose accesses are `like`: sites and functions are the same."""

    def __init__(self, like: WarpAtomics, form: Form):
        super().__init__(Builder(like.builder.declarations, form.width))
        self.sites = like.sites
        self.atomics, self.rows, self.deferred = like.atomics, like.rows, like.deferred
        self._form = form
        self._warp = like.builder.lanes
        self.unforeseen = False  # whether it is unknown if any lane acts

    def mask_for_helper(self, mask: str) -> Arg:
        return self._warp, self.builder.value(f"zext {self.builder.lanes} {mask} to {self._warp}")

    def load_any(
        self, site: int, address: str, type_: str, count: int, mask: str, indexed: Indexed | None = None
    ) -> list[str]:
        return self.load_vector(site, address, type_, count, mask)

    def load_chosen(
        self,
        site: int,
        address: str,
        choice: Choice,
        type_: str,
        count: int,
        mask: str,
        indexed: Indexed | None,
    ) -> list[str]:
        return self.load_vector(site, address, type_, count, mask)

    def store_any(
        self,
        site: int,
        address: str,
        type_: str,
        values: list[str],
        mask: str,
        indexed: Indexed | None = None,
    ) -> None:
        self.store_vector(site, address, type_, values, mask)

    def _at_once(self, type_: str) -> bool:
        """Whether lanes are better served by the processor's gathers and scatters."""
        return gathers_quickly() and BITS[type_] >= 32 and self.builder.width > 2

    def gather(self, address: str, delta: str, type_: str, count: int, mask: str) -> list[str]:
        b, words = self.builder, self.builder.vector("i64")
        host = b.value(f"add {words} {address}, {b.splat('i64', delta)}")
        if self._at_once(type_):
            return [gather_at_once(b, self._pointers(host, type_, k), type_, mask) for k in range(count)]
        if self._at_once("i32") and BITS[type_] == 8:
            return [gather_bytes(b, self._pointers(host, type_, k), type_, mask) for k in range(count)]
        there = b.splat("i64", b.value("ptrtoint ptr %lane_buffer to i64"))
        safe = b.value(f"select {b.vector('i1')} {b.mask_vector(mask)}, {words} {host}, {words} {there}")
        b.store_for_lanes("i64", safe, "%few_places")
        size = BITS[type_] // 8
        found = ["poison"] * count
        for lane in range(self.builder.width):
            place = b.value(f"load volatile ptr, ptr {b.offset('%few_places', 8 * lane)}")
            for k in range(count):
                one = b.load(type_, b.offset(place, k * size), f", align {size}")
                found[k] = b.value(f"insertelement {b.vector(type_)} {found[k]}, {type_} {one}, i32 {lane}")
        return found

    def scatter(self, address: str, delta: str, type_: str, values: list[str], mask: str) -> None:
        b, words = self.builder, self.builder.vector("i64")
        host = b.value(f"add {words} {address}, {b.splat('i64', delta)}")
        if self._at_once(type_):
            for k, value in enumerate(values):
                scatter_at_once(b, self._pointers(host, type_, k), type_, value, mask)
            return
        self._keep_places(host, mask)
        for k, value in enumerate(values):
            b.store_for_lanes(type_, value, self._value_of(k, type_, 0))
        size = BITS[type_] // 8
        for lane in range(self._form.most):
            place = b.load("volatile ptr", b.offset("%few_places", 8 * lane))
            for k in range(len(values)):
                one = b.load(f"volatile {type_}", self._value_of(k, type_, lane))
                b.store(type_, one, b.offset(place, k * size), f", align {size}")

    def gather_by(self, host: str, numbers: str, shift: int, type_: str, mask: str) -> str:
        return self.gather(self._hosts(host, numbers, shift), "0", type_, 1, mask)[0]

    def scatter_by(self, host: str, numbers: str, shift: int, type_: str, value: str, mask: str) -> None:
        self.scatter(self._hosts(host, numbers, shift), "0", type_, [value], mask)

    def _hosts(self, host: str, numbers: str, shift: int) -> str:
        """Host addresses, `numbers` times 2^shift bytes from a pointer."""
        b = self.builder
        pointers = pointers_of(b, host, f"{b.vector('i32')} {numbers}", shift)
        return b.value(f"ptrtoint {b.vector('ptr')} {pointers} to {b.vector('i64')}")

    def load_uniform(self, site: int, address: str, type_: str, count: int, mask: str) -> list[str]:
        if not self.unforeseen:
            return super().load_uniform(site, address, type_, count, mask)
        b, size = self.builder, BITS[type_] // 8
        bad, place = self._acted_upon(site, address, mask)

        def elements(first: str) -> list[str]:
            return [b.load(type_, b.offset(first, k * size), ", align 1") for k in range(count)]

        def careful() -> tuple[list[str], str]:
            label = self._serve(site, self._splat_address(address), mask)
            start = b.value(f"mul i64 {b.first_lane(mask)}, {size * count}")
            return elements(b.offset("%lane_buffer", start)), label

        return self.load_either(bad, type_, lambda: elements(place), careful)

    def store_uniform(
        self, site: int, address: str, type_: str, values: list[str], uniform: list[bool], mask: str
    ) -> None:
        if not self.unforeseen:
            super().store_uniform(site, address, type_, values, uniform, mask)
            return
        b, size = self.builder, BITS[type_] // 8
        lane = b.last_lane(b.value(f"or {b.lanes} {mask}, 1"))
        scalars = [
            value if same else b.value(f"extractelement {b.vector(type_)} {value}, i64 {lane}")
            for value, same in zip(values, uniform, strict=True)
        ]
        bad, place = self._acted_upon(site, address, mask)

        def quick() -> None:
            for k, scalar in enumerate(scalars):
                b.store(type_, scalar, b.offset(place, k * size), ", align 1")

        def careful() -> None:
            whole = [b.splat(type_, scalar) for scalar in scalars]
            self.store_slowly(site, self._splat_address(address), type_, whole, mask)

        self.store_either(bad, quick, careful)

    def _acted_upon(self, site: int, address: str, mask: str) -> tuple[str, str]:
        """Whether a lane acts outside of the site's range, and the place; nobody reads that if none acts.

        Without lanes no address is outside: said so, it is one comparison and not a branch for each.
        """
        b = self.builder
        active = b.someone(mask)
        if self.declared:
            bad, bounds = "false", DECLARED
        else:
            bounds = self.bounds(site)
            first = b.elements(b.value(f"sub i64 {address}, {bounds.low}"), self.sites[site].size)
            limit = b.value(f"select i1 {active}, i64 {bounds.limit}, i64 -1")
            bad = b.value(f"icmp uge i64 {first}, {limit}")
        return bad, b.value(f"select i1 {active}, ptr {self._host(address, bounds)}, ptr %lane_buffer")

    def _keep_places(self, hosts: str, mask: str) -> None:
        """Let `%few_places` have where lanes find their elements, and words nobody reads for idle ones."""
        b, words = self.builder, self.builder.vector("i64")
        nowhere = b.splat("i64", b.value("ptrtoint ptr %lane_buffer to i64"))
        own = constant_vector("i64", (_UNREAD * lane for lane in range(b.width)))
        unread = b.value(f"add {words} {nowhere}, {own}")
        acting = f"{b.vector('i1')} {b.mask_vector(mask)}"
        places = b.value(f"select {acting}, {words} {hosts}, {words} {unread}")
        b.store_for_lanes("i64", places, "%few_places")

    def change_one(self, site: int, operation: str, address: str, value: Value, whole: str, mask: str) -> str:
        if not self._form.alone:
            return super().change_one(site, operation, address, value, whole, mask)
        return self.change_any(site, operation, self._splat_address(address), [(value, whole)], mask)

    def _check_vector(self, site: int, address: str, mask: str, *, behind: int = 0) -> tuple[str, Bounds]:
        if not self._form.alone or self.declared or behind:
            return super()._check_vector(site, address, mask, behind=behind)
        return self._check_interval(site, self._first(self.builder.vector("i64"), address), 1)

    def _change_checked(
        self,
        site: int,
        change: str | Update,
        hosts: str,
        operands: Sequence[tuple[Value, str]],
        mask: str,
    ) -> str:
        if self.step in self.deferred:
            return super()._change_checked(site, change, hosts, operands, mask)
        if self._form.alone:
            return self._change_one(site, change, hosts, operands, mask)
        if isinstance(change, Update):  # its code is long
            return super()._change_checked(site, change, hosts, operands, mask)
        if self._own(site):
            return self._change_each(change, hosts, operands, mask)
        b = self.builder
        undisturbed, together, done = b.label("alone"), b.label("together"), b.label("replaced")
        b.branch(self._is_alone(), undisturbed, together)
        b.place(undisturbed)
        found = [(self._change_each(change, hosts, operands, mask), b.block)]
        b.jump(done)
        b.place(together)
        found.append((super()._change_checked(site, change, hosts, operands, mask), b.block))
        b.jump(done)
        b.place(done)
        return b.phi(b.vector(operands[0][0].type), *found)

    def _change_each(self, change: str, hosts: str, operands: Sequence[tuple[Value, str]], mask: str) -> str:
        """One lane after the other without a branch: how many act is not foreseen, nor which.

        Those that do not change a word of their own where nobody reads. Addresses and operands go through
        memory, results do not: a load of all would wait until each has been stored.
        """
        b, type_ = self.builder, operands[0][0].type
        self._keep_places(hosts, mask)
        for k, (value, all_) in enumerate(operands):
            if not value.uniform:
                b.store_for_lanes(type_, all_, self._value_of(k, type_, 0))
        found = "poison"
        for lane in range(b.width):
            place = b.load("volatile ptr", b.offset("%few_places", 8 * lane))
            given = [
                value.ir if value.uniform else b.load(f"volatile {type_}", self._value_of(k, type_, lane))
                for k, (value, _) in enumerate(operands)
            ]
            old = ElementChange(b, change, type_, place).undisturbed(given)
            found = b.value(f"insertelement {b.vector(type_)} {found}, {type_} {old}, i32 {lane}")
        return found

    def _value_of(self, operand: int, type_: str, lane: int) -> str:
        return self.builder.offset("%few_values", 8 * self.builder.width * operand + BITS[type_] // 8 * lane)

    def _change_one(
        self,
        site: int,
        change: str | Update,
        hosts: str,
        operands: Sequence[tuple[Value, str]],
        mask: str,
    ) -> str:
        """The change of the only lane."""
        b, type_ = self.builder, operands[0][0].type
        whole = b.vector(type_)
        start, acts, done, end = b.label("from"), b.label("acts"), b.label("done"), b.label("end")
        b.jump(start)
        b.place(start)
        b.branch(b.someone(mask), acts, end)
        b.place(acts)
        place = b.value(f"inttoptr i64 {self._first(b.vector('i64'), hosts)} to ptr")
        given = [self._first(whole, all_) for _, all_ in operands]
        element = ElementChange(b, change, type_, place)
        old = element.undisturbed(given) if self._own(site) else element.either(self._is_alone(), given)
        b.jump(done)
        b.place(done)
        b.jump(end)
        b.place(end)
        one = b.phi(type_, ("0", start), (old, done))
        return b.value(f"insertelement {whole} zeroinitializer, {type_} {one}, i32 0")

    def _is_alone(self) -> str:
        """An i1 that holds in a launch on one thread."""
        word = self.builder.load("i64", self.builder.offset("%context", 8 * SLOT["alone"]))
        return self.builder.value(f"icmp ne i64 {word}, 0")

    def _first(self, type_: str, values: str) -> str:
        return self.builder.value(f"extractelement {type_} {values}, i32 0")


class FewLanes(FastLanes):
    """The vocabulary for few lanes of a warp."""

    def __init__(self, like: FastLanes, form: Form):
        access = FewAccess(like.access, form)
        self.few_access = access
        self.local = (LocalMemoryOfOne if form.alone else LocalMemoryOfFew)(access, like.local.size)
        super().__init__(
            access,
            self.local,
            dataclasses.replace(like.shape, width=form.width),
            like.promises,
        )
        self._warp = like.shape
        self._form = form

    def special(self, name: str) -> Value:
        register, _, axis = name.removeprefix("%").partition(".")
        if register != "tid" or axis == "w":
            return super().special(name)
        b = self.builder
        table, found = b.offset("%threads_of_warp", self._warp.table_offset(axis)), "poison"
        for lane in range(self._form.most):
            place = b.value(f"getelementptr i32, ptr {table}, i64 {element(b, '%few_from', lane)}")
            one = b.load("i32", place)
            if self._form.alone:
                return Value("i32", one, self.same)
            found = b.value(f"insertelement {b.vector('i32')} {found}, i32 {one}, i32 {lane}")
        return Value("i32", found)

    def _load(self, space: str, address: Value, type_: str, count: int) -> tuple[Value, ...]:
        if space != "local" or not self._form.alone:
            return super()._load(space, address, type_, count)
        site = self.announce(space, False, address, type_, count)
        names = self.local.load(site, address, type_, count, self.mask)
        return tuple(Value(type_, name, self.same) for name in names)

    def _store(self, space: str, address: Value, values: tuple[Value, ...]) -> None:
        if space != "local" or not self._form.alone:
            super()._store(space, address, values)
            return
        site = self.announce(space, True, address, values[0].type, len(values), values)
        self.local.store(site, address, values[0].type, [value.ir for value in values], self.mask)

    def _replace(
        self, space: str, change: str | Update, address: Value, given: Sequence[tuple[Value, ...]]
    ) -> tuple[Value, ...]:
        found = super()._replace(space, change, address, given)
        if not self._form.alone:
            return found
        whole, first = self.builder.vector(found[0].type), self.builder.value
        return tuple(
            Value(one.type, first(f"extractelement {whole} {one.ir}, i32 0"), self.same) for one in found
        )

    def guard_like(self, a: Value, guarded: bool) -> Value:
        """What is the same for all lanes because their offsets cancel out is found in one of them."""
        return a if a.offsets is not None else Value(a.type, self.one_of(a), self.same)

    def outline(self, outline: Outline, operands: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(outline.make(self, *self.all_exact(tuple(operands))))


class FewRegisters(Registers):
    """The registers of few lanes: what is affine in a warp is a vector here."""

    def __init__(self, builder: Builder, warp: Registers, form: Form):
        super().__init__(builder, {}, {name: _kind(warp.kind(name), form) for name in warp.types})
        self.types = warp.types


def element(b: Builder, numbers: str, lane: int) -> str:
    """An element of a vector of i64 in memory."""
    return b.load("i64", b.offset(numbers, 8 * lane))


def _kind(kind: Value, form: Form) -> Value:
    """What a register of a warp is for few of its lanes."""
    same = no_offsets(form.width)
    if kind.ok is None and one_value(kind.offsets):
        return replace(kind, offsets=same)
    return Value(
        kind.type,
        "",
        same if form.alone else None,
        None,
        kind.low,
        kind.high,
        nan=kind.nan,
        zeros=lane_zeros(kind),
    )
