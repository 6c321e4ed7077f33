"""Loads of neighbours (neighbours.py): the first loads words or records, of which each takes its part.

Whether all lanes' lie in the range of the first one's site is found out there. Where they do not, or where
lanes seem to lie side by side, so that one load serves all of them, each is served as if it were alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...isa.types import BITS
from ..builder import Builder
from ..values.value import Value
from .indexed import Anywhere, Indexed
from .merged_checks import MergedCheck
from .narrow_vectors import element_of
from .neighbours import Neighbours
from .structure_access import StructureAccess


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What the first of some neighbours has loaded for the lanes of a mask: words, or a record's elements.

    `found` is an i1 that says whether it has.
    """

    found: str
    parts: Sequence[str]
    mask: str


class NeighbourLoads(StructureAccess):
    """Emits accesses of every form; loads of neighbours at addresses of unknown form at once."""

    def __init__(self, builder: Builder):
        super().__init__(builder)
        self.neighbours: Mapping[int, Neighbours] = {}
        self._loaded: dict[int, _Loaded] = {}  # by the first step

    def versions(self, checks: Sequence[MergedCheck], scalar: Callable[[str], Value]) -> Iterator[None]:
        for turn in super().versions(checks, scalar):
            self._loaded.clear()
            yield turn
        self._loaded.clear()

    def load_any(
        self, site: int, address: str, type_: str, count: int, mask: str, indexed: Indexed | None = None
    ) -> list[str]:
        own = self.neighbours.get(self.step)
        if own is not None and own.first == self.step:
            self._loaded.pop(self.step, None)
            if not self.declared:
                at = self.best_known(site, address, indexed)
                self._loaded[self.step] = self._load_together(own, site, at, mask)
        known = None if own is None else self._loaded.get(own.first)
        if own is None or known is None or known.mask != mask:
            return super().load_any(site, address, type_, count, mask, indexed)
        b = self.builder
        start, alone, last, join = b.label("part"), b.label("alone"), b.label("last"), b.label("join")
        b.jump(start)
        b.place(start)
        place = own.places[self.step] // own.size
        parts = [self._part(own, known.parts, type_, place + k) for k in range(count)]
        b.branch(known.found, join, alone)
        b.place(alone)
        usual = super().load_any(site, address, type_, count, mask, indexed)
        b.jump(last)
        b.place(last)
        b.jump(join)
        b.place(join)
        return [
            b.phi(b.vector(type_), (part, start), (one, last)) for part, one in zip(parts, usual, strict=True)
        ]

    def _part(self, own: Neighbours, parts: Sequence[str], type_: str, number: int) -> str:
        """One of the elements of what was loaded."""
        b = self.builder
        if not own.record:
            return element_of(b, parts[0], type_, own.bytes // own.size, number)
        part, integers = parts[number], f"i{BITS[type_]}"
        if type_ == integers:
            return part
        return b.value(f"bitcast {b.vector(integers)} {part} to {b.vector(type_)}")

    def _load_together(self, own: Neighbours, site: int, at: Anywhere | Indexed, mask: str) -> _Loaded:
        b, place = self.builder, own.places[self.step]
        size = own.size if own.record else own.bytes
        type_, count = f"i{8 * size}", own.bytes // size
        look, check, quick, join = b.label("look"), b.label("check"), b.label("quick"), b.label("join")
        b.jump(look)
        b.place(look)
        b.branch(self._seem_contiguous(at, own.unit), join, check)
        b.place(check)
        at = at.before(b, place)
        outside, bounds = self.check(site, at, mask, behind=own.bytes // own.unit - 1)
        b.branch(outside, join, quick, unlikely=True)
        b.place(quick)
        loaded = self.gather_from(at, bounds, type_, count, mask)
        b.jump(join)
        b.place(join)
        found = b.phi("i1", ("false", look), ("false", check), ("true", quick))
        nothing = [("poison", look), ("poison", check)]
        parts = [b.phi(b.vector(type_), *nothing, (part, quick)) for part in loaded]
        return _Loaded(found, parts, mask)

    def _seem_contiguous(self, at: Anywhere | Indexed, size: int) -> str:
        """An i1 that holds if the first two lanes lie side by side, whether or not they act."""
        apart, b, whole = at.apart(size), self.builder, self.builder.vector(at.type)
        if not apart:
            return "false"
        lanes = [b.value(f"extractelement {whole} {at.numbers}, i32 {lane}") for lane in (0, 1)]
        distance = b.value(f"sub {at.type} {lanes[1]}, {lanes[0]}")
        return b.value(f"icmp eq {at.type} {distance}, {apart}")
