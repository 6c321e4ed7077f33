"""The values, registers and accesses of few lanes: a scalar if all have one value, else a short vector.

Where gathers are slow, and for halves, accesses are made lane by lane: loads of all lanes at once, of which
those that do not act load from a place that is surely there, stores in the lanes' order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ...isa.lanes import Outline, Update
from ...isa.types import BITS
from ..builder import Arg, Builder
from ..context import SLOT
from ..lanes.fast import FastLanes
from ..machine.target import gathers_quickly
from ..memory.element_changes import ElementChange
from ..memory.gather_scatter import gather_at_once, gather_bytes, scatter_at_once
from ..memory.indexed import Indexed
from ..memory.warp_atomics import WarpAtomics
from ..registers import Registers
from ..values.choice import Choice
from ..values.known_bits import lane_zeros
from ..values.value import Value, no_offsets, one_value, replace
from .find import Form
from .local import LocalMemoryOfOne


class FewAccess(WarpAtomics):
    """Accesses of few lanes of a warp whose accesses are `like`: sites and functions are the same."""

    def __init__(self, like: WarpAtomics, form: Form):
        super().__init__(Builder(like.builder.declarations, form.width))
        self.sites = like.sites
        self.atomics, self.rows, self.deferred = like.atomics, like.rows, like.deferred
        self._form = form
        self._warp = like.builder.lanes

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
        b.store(f"volatile {words}", safe, "%few_places", ", align 64")
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
        b.store(words, host, "%few_places", ", align 64")
        for k, value in enumerate(values):
            b.store(b.vector(type_), value, b.offset("%few_values", 8 * b.width * k), ", align 64")
        start, lanes, done = b.label("from"), b.label("lane"), b.label("stored")
        b.jump(start)
        b.place(start)
        b.branch(b.someone(mask), lanes, done)
        b.place(lanes)
        fewer = b.name("fewer")
        rest = b.phi(b.lanes, (mask, start), (fewer, lanes))
        lane = b.first_lane(rest)
        place = b.load("ptr", b.value(f"getelementptr ptr, ptr %few_places, i64 {lane}"))
        size = BITS[type_] // 8
        for k in range(len(values)):
            values_of = b.offset("%few_values", 8 * b.width * k)
            at = b.value(f"getelementptr {type_}, ptr {values_of}, i64 {lane}")
            b.store(type_, b.load(type_, at), b.offset(place, k * size), f", align {size}")
        b.emit(f"{fewer} = and {b.lanes} {rest}, {b.value(f'sub {b.lanes} {rest}, 1')}")
        b.branch(b.someone(fewer), lanes, done)
        b.place(done)

    def change_any(
        self,
        site: int,
        change: str | Update,
        address: str,
        operands: Sequence[tuple[Value, str]],
        mask: str,
    ) -> str:
        if not self._form.alone or self.step in self.deferred:
            return super().change_any(site, change, address, operands, mask)
        b, type_, words = self.builder, operands[0][0].type, self.builder.vector("i64")
        whole = b.vector(type_)
        bad, bounds = self._check_vector(site, address, mask)

        def quick() -> list[str]:
            start, acts, done, end = b.label("from"), b.label("acts"), b.label("done"), b.label("end")
            b.jump(start)
            b.place(start)
            b.branch(b.someone(mask), acts, end)
            b.place(acts)
            host = b.value(f"add i64 {self._first(words, address)}, {bounds.delta}")
            place = b.value(f"inttoptr i64 {host} to ptr")
            given = [self._first(whole, all_) for _, all_ in operands]
            element = ElementChange(b, change, type_, place)
            if self._own(site):
                old = element.undisturbed(given)
            else:
                alone = b.load("i64", b.offset("%context", 8 * SLOT["alone"]))
                old = element.either(b.value(f"icmp ne i64 {alone}, 0"), given)
            b.jump(done)
            b.place(done)
            b.jump(end)
            b.place(end)
            one = b.phi(type_, ("0", start), (old, done))
            return [b.value(f"insertelement {whole} zeroinitializer, {type_} {one}, i32 0")]

        def careful() -> tuple[list[str], str]:
            return self._slowly(site, change, type_, address, [all_ for _, all_ in operands], mask)

        return self.load_either(bad, whole, quick, careful)[0]

    def _first(self, type_: str, values: str) -> str:
        return self.builder.value(f"extractelement {type_} {values}, i32 0")


class FewLanes(FastLanes):
    """The vocabulary for few lanes of a warp."""

    def __init__(self, like: FastLanes, form: Form):
        access = FewAccess(like.access, form)
        self.local = LocalMemoryOfOne(access, like.local.size)
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
        if space != "local":
            return super()._load(space, address, type_, count)
        site = self.announce(space, False, address, type_, count)
        names = self.local.load(site, address, type_, count, self.mask)
        return tuple(Value(type_, name, self.same) for name in names)

    def _store(self, space: str, address: Value, values: tuple[Value, ...]) -> None:
        if space != "local":
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
