"""Accesses to several elements of structures (structures.py), of which a warp's are one run of memory."""

from __future__ import annotations

from ...isa.types import BITS
from ..builder import constant_vector, vector
from ..machine.target import vector_bytes
from ..values.value import Offsets, Value
from .chosen import ChosenLoads
from .interleave import deinterleave, interleave
from .sites import Bounds
from .streaming import RunType
from .structures import Structure


class StructureAccess(ChosenLoads):
    """Emits accesses of every form; those to structures once for several elements."""

    def _load_pattern(
        self,
        site: int,
        low: str,
        places: Offsets,
        bounds: Bounds,
        address: Value,
        type_: str,
        count: int,
        mask: str,
    ) -> list[str]:
        structure = self.structures.get(self.step)
        if structure is None or self.step in self.tiles.by_step:
            return super()._load_pattern(site, low, places, bounds, address, type_, count, mask)
        fields = self.loaded_fields.get(structure.last)
        if fields is None:
            fields = self.loaded_fields[structure.last] = self._load_fields(structure, bounds, address)
        first = structure.places[self.step] // structure.size
        return [self._field(fields[first + k], type_) for k in range(count)]

    def _load_fields(self, structure: Structure, bounds: Bounds, address: Value) -> list[list[str]]:
        """The registers of all fields."""
        b, size, each = self.builder, structure.size, self._elements(structure)
        type_, host = f"i{8 * size}", self._start(structure, bounds, address)
        end = (b.width - 1) * structure.fields + structure.bytes // size

        def load(first: int) -> str:
            where, left = b.offset(host, first * size), end - first
            if left >= each:
                return b.load(vector(type_, each), where, ", align 1")
            present = constant_vector("i1", (str(k < left).lower() for k in range(each)))
            return b.masked_load(type_, each, where, present) if left > 0 else "poison"

        # As many lanes at a time as a register holds: no more registers are needed than there are fields.
        parts: list[list[str]] = []
        for lane in range(0, b.width, each):
            starts = range(lane * structure.fields, (lane + each) * structure.fields, each)
            parts.append(deinterleave(b, type_, [load(first) for first in starts], each))
        return [list(field) for field in zip(*parts, strict=True)]

    def _field(self, parts: list[str], type_: str) -> str:
        b, integers = self.builder, f"i{BITS[type_]}"
        whole = b.joined(integers, parts, b.width // len(parts))
        return (
            whole
            if type_ == integers
            else b.value(f"bitcast {b.vector(integers)} {whole} to {b.vector(type_)}")
        )

    def _store_pattern(
        self,
        site: int,
        low: str,
        places: Offsets,
        bounds: Bounds,
        address: Value,
        type_: str,
        values: list[str],
        mask: str,
    ) -> None:
        structure = self.structures.get(self.step)
        if structure is None:
            super()._store_pattern(site, low, places, bounds, address, type_, values, mask)
            return
        first = structure.places[self.step] // structure.size
        for k, value in enumerate(values):
            self.stored_fields[structure.last, first + k] = self._parts(structure, type_, value)
        if self.step == structure.last:
            self._store_fields(site, structure, self._start(structure, bounds, address), mask)

    def _parts(self, structure: Structure, type_: str, value: str) -> list[str]:
        """A vector as integers in registers."""
        b, integers, each = self.builder, f"i{BITS[type_]}", self._elements(structure)
        if type_ != integers:
            value = b.value(f"bitcast {b.vector(type_)} {value} to {b.vector(integers)}")
        if each == b.width:
            return [value]
        return [b.shuffle(integers, b.width, value, range(k, k + each)) for k in range(0, b.width, each)]

    def _store_fields(self, site: int, structure: Structure, host: str, mask: str) -> None:
        b, count, each = self.builder, structure.fields, self._elements(structure)
        fields = [self.stored_fields.pop((structure.last, field), None) for field in range(count)]
        type_ = f"i{8 * structure.size}"
        registers = [
            register
            for part in range(b.width // each)
            for register in interleave(b, type_, [None if one is None else one[part] for one in fields], each)
        ]

        def store_some() -> None:
            for k, register in enumerate(registers):
                owners = [divmod(place, count) for place in range(k * each, (k + 1) * each)]
                present = [None if fields[field] is None else lane for lane, field in owners]
                acts = b.owned(mask, 8 * structure.size, present)
                b.masked_store(type_, each, register, b.offset(host, k * each * structure.size), acts)

        def store_all() -> None:
            self.store_run(site, host, RunType(type_, each, len(registers)), registers)

        if any(parts is None for parts in fields):
            store_some()
        else:
            some = "false" if mask == "-1" else b.value(f"icmp ne {b.lanes} {mask}, -1")
            self.store_either(some, store_all, store_some)

    def _elements(self, structure: Structure) -> int:
        """How many elements a register holds."""
        return min(self.builder.width, vector_bytes() // structure.size)

    def _start(self, structure: Structure, bounds: Bounds, address: Value) -> str:
        """The host address of the lowest lane's first element."""
        assert address.offsets is not None
        scalar, _ = self.placed[self.step]
        distance = structure.start + address.offsets[0]
        return self._host(self.builder.value(f"add i64 {scalar}, {distance}") if distance else scalar, bounds)
