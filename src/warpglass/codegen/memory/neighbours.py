"""Neighbours: loads of a basic block whose elements lie in one word of each lane, wherever its lanes are.

So do both samples that a value is interpolated from, or the colours of a pixel. Where addresses have no form
that is known, every load is a gather, which takes as long for a word as for an element: one gather of words
stands for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...program import Block, Program, Step
from ..values.value import Value
from .structures import only_loads

# Bytes of the words that elements of so many bytes are parts of.
_WORDS = {1: 4, 2: 4, 4: 8}


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Loads of elements of `size` bytes from words of `bytes` bytes.

    `places` says how many bytes from the start of the word each step's element is, in the steps' order.
    """

    size: int
    bytes: int
    places: Mapping[int, int]

    @property
    def first(self) -> int:
        """The step that comes first."""
        return next(iter(self.places))


@dataclass(frozen=True, slots=True)
class _Load:
    """A load: its step, its bytes, what it counts from, and how far it is from there."""

    step: int
    size: int
    base: tuple[str, int, str]  # a register, how often that was written before, and the space
    offset: int


def find_neighbours(program: Program, kinds: Mapping[str, Value]) -> dict[int, Neighbours]:
    """The neighbours of each step that has some."""
    return {
        step: found
        for block in program.blocks
        for loads in _undisturbed(block, kinds)
        for found in _grouped(loads)
        for step in found.places
    }


def _undisturbed(block: Block, kinds: Mapping[str, Value]) -> Iterator[list[_Load]]:
    """The loads from addresses without a known form, as far as nothing between them may change memory."""
    loads: list[_Load] = []
    written = Counter[str]()
    for step in block.steps:
        if only_loads(step):
            load = _load(step, kinds, written)
            loads += [] if load is None else [load]
        elif not step.match.row.computes:
            yield loads
            loads = []
        written.update(step.writes)
    yield loads


def _load(step: Step, kinds: Mapping[str, Value], written: Counter[str]) -> _Load | None:
    access, base = step.match.load_or_store, step.address_register
    kind = None if base is None else kinds.get(base)
    if access is None or base is None or kind is None or kind.offsets is not None:
        return None
    if step.instruction.guard is not None or step.match.vec is not None:
        return None
    if access.space not in ("global", "shared") or access.size not in _WORDS:
        return None
    return _Load(step.number, access.size, (base, written[base], access.space), step.address.offset)


def _grouped(loads: Sequence[_Load]) -> Iterator[Neighbours]:
    """Those that lie in one word, several at least."""
    kinds: dict[tuple[object, int], list[_Load]] = {}
    for one in loads:
        kinds.setdefault((one.base, one.size), []).append(one)
    for (_, size), alike in kinds.items():
        left = sorted(alike, key=lambda one: one.offset)
        while left:
            start, end = left[0].offset, left[0].offset + _WORDS[size]
            own = [one for one in left if one.offset + size <= end and (one.offset - start) % size == 0]
            left = [one for one in left if one not in own]
            if len(own) > 1:
                own.sort(key=lambda one: loads.index(one))
                yield Neighbours(size, _WORDS[size], {one.step: one.offset - start for one in own})
