"""The fast implementation of isa/lanes.py: a scalar stands for all lanes wherever it can.

Arithmetic is in arithmetic.py; here are special registers, memory and what goes across lanes. An access of a
uniform address is one of a scalar, and an affine address says which lanes lie side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...isa.lanes import Update
from ...isa.types import BITS, is_float
from ..memory.narrow_vectors import join_word, split_word, word_type
from ..memory.sites import DECLARED
from ..memory.warp_atomics import WIDEST, combines
from ..values.affine import line_of, regular
from ..values.bounds import bounds_of
from ..values.known_bits import lane_zeros
from ..values.lane_tables import table_of
from ..values.specials import lane_pattern
from ..values.value import UNIFORM, Offsets, Value
from .arithmetic import FastArithmetic
from .specials import scalar_special


class FastLanes(FastArithmetic):
    """Operations on values of any form, given what the launches promise."""

    # ------------------------------------------------------------------------------------ the machine
    def special(self, name: str) -> Value:
        value = self.specials.facts(name)
        if value.constant is not None:
            return value
        register, _, axis = name.partition(".")
        if value.line is not None:
            return self.of_line(value)
        if register == "tid" and axis != "w":
            where = self.builder.offset("%threads_of_warp", self.shape.table_offset(axis))
            if value.offsets is not None:
                value.ir = self.builder.load("i32", where)
            else:
                value.ir = self.builder.load(self.builder.vector("i32"), where, ", align 64")
        else:
            value.ir = scalar_special(self.builder, self.shape, name)
        return value

    def load(self, space: str, address: Value, type_: str, count: int, volatile: bool) -> tuple[Value, ...]:
        if space == "param":
            known = self.promises.parameters.get(address.constant) if address.constant is not None else None
            if known is not None and count == 1:
                return (self.constant(type_, known),)
            names = self.access.load_parameter(address, type_, count)
            return tuple([Value(type_, name, self.same) for name in names])
        space, address = self.reached(space, address)
        with self._inside(space, address, BITS[type_] // 8 * count):
            return self._load(space, address, type_, count)

    def _load(self, space: str, address: Value, type_: str, count: int) -> tuple[Value, ...]:
        site = self.announce(space, False, address, type_, count)
        self.access.show_rows(site)
        apart = space == "local" or self.access.step in self.access.tiles.by_step
        word = None if apart else word_type(type_, count)
        if word is None:
            names, offsets = self._load_elements(site, space, address, type_, count)
        else:
            (found,), offsets = self._load_elements(site, space, address, word, 1)
            names = split_word(
                self.builder, found, type_, count, self.builder.width if offsets is None else 1
            )
        return self.show_loaded(site, tuple([Value(type_, name, offsets) for name in names]))

    def _load_elements(
        self, site: int, space: str, address: Value, type_: str, count: int
    ) -> tuple[list[str], Offsets | None]:
        """Load by what is known of the address; also the offsets of what was loaded, if it is a scalar."""
        if space == "local":
            place = address if address.uniform else self.as_vector(address)
            return self.local.load(site, place, type_, count, self.mask, self.indices.find(address)), None
        if address.uniform and not self.local.may_be_meant(space):
            return self.access.load_uniform(site, address.ir, type_, count, self.mask), self.same
        if address.offsets is not None and regular(address.offsets, BITS[type_] // 8 * count):
            return self.access.load_affine(site, address, type_, count, self.mask), None
        indexed = self.indices.find(address)
        where = self.as_vector(address).ir
        choice = self.choices.find(address)
        if choice is not None and choice.has_runs(BITS[type_] // 8 * count):
            return self.access.load_chosen(site, where, choice, type_, count, self.mask, indexed), None
        return self.access.load_any(site, where, type_, count, self.mask, indexed), None

    def store(self, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        values = self.all_exact(values)
        space, address = self.reached(space, address)
        with self._inside(space, address, BITS[values[0].type] // 8 * len(values)):
            self._store(space, address, values)

    def _store(self, space: str, address: Value, values: tuple[Value, ...]) -> None:
        type_ = values[0].type
        site = self.announce(space, True, address, type_, len(values), values)
        if space == "local":
            place = address if address.uniform else self.as_vector(address)
            names = [value.ir for value in self.vectors(*values)]
            self.local.store(site, place, type_, names, self.mask, self.indices.find(address))
            return
        size = BITS[type_] // 8 * len(values)
        self.access.spoil_tiles(address, lambda: self.as_vector(address).ir, size, self.mask)
        same = address.uniform and not self.local.may_be_meant(space)
        names = [value.ir if same and value.uniform else self.as_vector(value).ir for value in values]
        uniform = [value.uniform for value in values]
        word = word_type(type_, len(values))
        if word is not None and (not same or all(uniform) or not any(uniform)):
            alike = same and all(uniform)
            names = [join_word(self.builder, names, type_, 1 if alike else self.builder.width)]
            type_, uniform = word, [alike]
        if same:
            self.access.store_uniform(site, address.ir, type_, names, uniform, self.mask)
        elif address.offsets is not None and regular(address.offsets, size):
            self.access.store_affine(site, address, type_, names, self.mask)
        else:
            indexed = self.indices.find(address)
            self.access.store_any(site, self.as_vector(address).ir, type_, names, self.mask, indexed)

    def _replace(
        self, space: str, change: str | Update, address: Value, given: Sequence[tuple[Value, ...]]
    ) -> tuple[Value, ...]:
        given = [self.all_exact(operands) for operands in given]
        type_ = given[0][-1].type
        if len(given) > 1 or BITS[type_] > WIDEST:
            return super()._replace(space, change, address, given)
        (operands,) = given
        space, address = self.reached(space, address)
        with self._inside(space, address, BITS[type_] // 8):
            site = self.announce(space, True, address, type_, 1)
            whole = [(operand, self.as_vector(operand).ir) for operand in operands]
            one = address.uniform and not self.local.may_be_meant(space)
            if one and isinstance(change, str) and combines(change):
                old = self.access.change_one(site, change, address.ir, *whole[0], self.mask)
            else:
                old = self.access.change_any(site, change, self.as_vector(address).ir, whole, self.mask)
            return self.show_loaded(site, (Value(type_, old),))

    @contextmanager
    def _inside(self, space: str, address: Value, size: int) -> Iterator[None]:
        """Without checks if the address is known to lie in the shared memory that the kernel declares."""
        access = self.access
        before = access.proven
        if space == "shared" and access.step not in access.apart and self._is_declared(address, size):
            access.declared = True
            # Bounds hold for lanes that act, and more may be accessed together.
            if line_of(address) is not None:
                access.proven = {**before, access.step: DECLARED}
        yield
        access.proven, access.declared = before, False

    def _is_declared(self, address: Value, size: int) -> bool:
        if address.ok is not None or lane_zeros(address) < size.bit_length() - 1:
            return False
        table = table_of(address, self.shape.warps)
        bounds = bounds_of(address) if table is None else (int(table.min()), int(table.max()))
        return bounds is not None and bounds[0] >= 0 and bounds[1] + size <= self.shape.static_shared

    def one_of(self, a: Value) -> str:
        a = self.exact(a)
        return a.ir if a.uniform else super().one_of(self.as_vector(a))

    def everywhere(self, type_: str, scalar: str) -> Value:
        return Value(type_, scalar, self.same)

    # ------------------------------------------------------------------------------------ across lanes
    def lane_constants(self, type_: str, patterns: tuple[int, ...]) -> Value:
        if type_ == "i1" or is_float(type_):
            return super().lane_constants(type_, patterns)
        return self.of_line(lane_pattern(type_, patterns))

    def permute(self, a: Value, sources: tuple[int, ...]) -> Value:
        a = self.exact(a)
        if a.uniform:
            self.note_exchange(self.lane_constants("i32", sources))
            return a
        return super().permute(self.as_vector(a), sources)

    def shuffle(self, a: Value, source: Value) -> Value:
        a = self.exact(a)
        if a.uniform:
            self.note_exchange(source)
            return a
        return super().shuffle(*self.vectors(a, source))

    def active(self) -> Value:
        return Value("i32", self.mask, UNIFORM)

    def ballot(self, predicate: Value) -> Value:
        if predicate.uniform:
            votes = self.builder.value(f"select i1 {predicate.ir}, i32 {self.mask}, i32 0")
            return Value("i32", votes, UNIFORM)
        return Value("i32", self.builder.votes(self.as_vector(predicate).ir, self.mask), UNIFORM)

    def mask_predicate(self, mask: Value) -> Value:
        if mask.uniform:
            return Value("i1", self.builder.mask_vector(mask.ir))
        return super().mask_predicate(self.as_vector(mask))

    def reduce(self, operation: str, a: Value) -> Value:
        return Value(a.type, self._reduced(operation, self.as_vector(self.exact(a))), UNIFORM)

    def equal_lanes(self, a: Value) -> Value:
        a = self.exact(a)
        return self.constant("i32", -1) if a.uniform else super().equal_lanes(self.as_vector(a))
