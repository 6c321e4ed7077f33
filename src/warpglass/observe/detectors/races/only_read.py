"""Which memory a launch can only read: reads of it race with nothing, so that they are not remembered.

What a kernel can write is found before it runs: the allocations that the bases of its stores' addresses
(program/pointers.py) point to. An address belongs to the allocation that it is nearest to, since no distance
within one leads to another; where a base says nothing, a store may write anything. If a store after all
reaches memory that was taken for only read, the native `access` (accesses.py) notices.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ....codegen import Emission, Probe, WorkerWords
from ....codegen.context import HEAP_BASE, MODULE_BASE
from ....codegen.memory.sites import Site
from ....program import Program
from ....program.pointers import HEAP, MEMORY, MODULE, OWN, Base, Word, bases_of
from ....records.marks import INPUT
from .. import layout
from ..emit import where

if TYPE_CHECKING:
    from ..detector import Watched

# So many bytes from an allocation a pointer still means it (between two there are more than twice as many),
# and up to here, of either sign, an integer is no pointer but an index or a size.
_NEAR = 1 << 31
_WRAPPED = 1 << 64


class Reach:
    """What addresses of one launch lead to.

    `rows` are the regions', `parameters` the parameter block, in which each parameter has its offset.
    """

    def __init__(
        self, rows: Sequence[np.ndarray] | np.ndarray, parameters: bytes, offsets: Mapping[str, int]
    ):
        self._parameters = parameters
        self._offsets = offsets
        arrays = rows[layout.FIRST_ARRAY :]
        self._starts = [int(row[layout.BASE]) for row in arrays]
        self._ends = [int(row[layout.BASE] + row[layout.SIZE]) for row in arrays]

    def of(self, bases: Collection[Base]) -> tuple[frozenset[int], bool]:
        """The regions that an address with some bases may be in; whether it may be in others, too."""
        found: set[int] = set()
        known = True
        for base in bases:
            here = self._of_value(self._value(base)) if isinstance(base, Word) else _OF_OTHERS[base]
            known &= here != _ANYWHERE
            found.add(here)
        return frozenset(found - {_NOWHERE, _ANYWHERE}), not known

    def _value(self, word: Word) -> int:
        start = self._offsets[word.parameter] + word.offset
        return int.from_bytes(self._parameters[start : start + 8], "little")

    def _of_value(self, value: int) -> int:
        """The region that a word of a parameter points to."""
        behind = bisect_right(self._starts, value)
        for index in (behind - 1, behind):
            inside = 0 <= index < len(self._starts)
            if inside and self._starts[index] - _NEAR <= value < self._ends[index] + _NEAR:
                return layout.FIRST_ARRAY + index
        if value < _NEAR or value >= _WRAPPED - _NEAR:
            return _NOWHERE
        if value >> 48 == MODULE_BASE >> 48:
            return layout.MODULE_REGION
        return layout.HEAP_REGION if value >> 52 == HEAP_BASE >> 52 else _ANYWHERE


_NOWHERE, _ANYWHERE = -1, -2
_OF_OTHERS: Mapping[str, int] = {
    MODULE: layout.MODULE_REGION,
    HEAP: layout.HEAP_REGION,
    OWN: _NOWHERE,
    MEMORY: _ANYWHERE,
}


def only_read(reach: Reach, written: Iterable[frozenset[Base]], regions: Iterable[int]) -> frozenset[int]:
    """Those of some regions that no store writes; `written` has the bases of each store's address."""
    found = set(regions)
    for bases in written:
        reached, more = reach.of(bases)
        if more and not reached:
            return frozenset()
        found -= reached
    return frozenset(found)


class OnlyRead:
    """The part of it in generated code: what reads what is only read is not looked at.

    `stores` are the bases of stores' addresses, `loads` those of loads', numbered: a worker has a word of
    each from `passes` on.
    """

    def __init__(self, program: Program, words: WorkerWords):
        self._bases = bases_of(program)
        self.stores: set[frozenset[Base]] = set()
        self.loads: dict[frozenset[Base], int] = {}
        self.passes = words.take(layout.PASS_WORDS)

    @contextmanager
    def skipped(self, at: Emission, site: Site, info: int) -> Iterator[None]:
        """What is emitted within is for what may be written, and for loads that note something."""
        number = self._number(site) if site.write or not info >> layout.NOTE_FIELD & 1 else None
        if number is None:
            yield
            return
        b = at.builder
        only = b.load("i64", Probe.place(at, self.passes + number))
        with where(b, b.value(f"icmp eq i64 {only}, 0")):
            yield

    def _number(self, site: Site) -> int | None:
        """The number of an access's bases if its memory may be only read."""
        if site.space not in ("global", "generic"):
            return None
        bases = self._bases[site.step]
        if site.space == "global":
            bases -= {OWN}
        if site.write:
            self.stores.add(bases)
        if site.write or not bases.isdisjoint((OWN, MEMORY)):
            return None
        number = self.loads.setdefault(bases, len(self.loads))
        return number if number < layout.PASS_WORDS else None


def set_only_read(watched: Watched, code: OnlyRead) -> None:
    """Tell a launch's workers what it only reads; of arrays to be read whole, reads are remembered."""
    begun, memory = watched.begun, watched.memory
    known = memory.tables[0][: layout.FIRST_ARRAY + len(memory.arrays)]
    reach = Reach(known, begun.parameters, begun.scene.prepared.symbols.parameters)
    kept = watched.marked(INPUT)
    regions = [layout.MODULE_REGION]
    for number, row in enumerate(memory.arrays):
        if number not in kept and not row[layout.FRESH]:
            regions.append(layout.FIRST_ARRAY + number)
    found = only_read(reach, code.stores, regions)
    for table in memory.tables:
        table[list(found), layout.ONLY_READ] = 1
    passes = np.zeros(layout.PASS_WORDS, np.int64)
    for bases, number in code.loads.items():
        if number < layout.PASS_WORDS:
            reached, more = reach.of(bases)
            passes[number] = bool(reached) and not more and reached <= found
    for worker, state in zip(begun.workers, memory.states, strict=True):
        words = worker.words[code.passes : code.passes + layout.PASS_WORDS]
        words[:] = passes
        state[layout.PASSES] = words.ctypes.data
