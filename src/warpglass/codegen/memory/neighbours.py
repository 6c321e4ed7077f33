"""Neighbours: loads of a basic block whose elements each lane has near each other, wherever its lanes are.

So are both samples that a value is interpolated from, the colours of a pixel, and the members of a structure.
Where addresses have no form that is known, every load is a gather. One gather of words stands for those of
elements in one word, and one load of records (records.py) for those of several words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...isa.types import BITS, LLVM_TYPE
from ...program import Block, Program, Step
from ..values.value import Value
from .records import MOST, record_sizes
from .structures import only_loads

# Bytes of the words that elements of so many bytes are parts of.
_WORDS = {1: 4, 2: 4, 4: 8, 8: 8}
_NARROW = 4  # bytes of the elements of records at least


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Loads of elements of `size` bytes from words or records of `bytes` bytes, `unit` bytes by each load.

    `places` says how many bytes from the start each step's first element is, in the steps' order.
    """

    size: int
    unit: int
    bytes: int
    places: Mapping[int, int]

    @property
    def first(self) -> int:
        """The step that comes first."""
        return next(iter(self.places))

    def shares_word(self, step: int) -> bool:
        """Whether a step's element is in the word of one that an earlier step loads."""
        words = {one: place // _WORDS[self.size] for one, place in self.places.items()}
        return next(one for one, word in words.items() if word == words[step]) != step

    @property
    def record(self) -> bool:
        """Whether they are in more than a word."""
        return self.bytes > _WORDS[self.size]


@dataclass(frozen=True, slots=True)
class _Load:
    """A load: its step, its bytes, those of an element, what it counts from, and how far it is from there."""

    step: int
    bytes: int
    size: int
    base: tuple[str, int, str]  # a register, how often that was written before, and the space
    offset: int


def find_neighbours(program: Program, kinds: Mapping[str, Value]) -> dict[int, Neighbours]:
    """The neighbours of each step that has some."""
    found: dict[int, Neighbours] = {}
    records = 0
    for block in program.blocks:
        for loads in _undisturbed(block, kinds):
            for one in _grouped(loads, room=MOST - records):
                records += one.record
                found.update(dict.fromkeys(one.places, one))
    return found


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
    size = BITS[LLVM_TYPE[step.match.forms()[0][2]]] // 8
    if step.instruction.guard is not None or (step.match.vec is not None and size < _NARROW):
        return None
    if access.space not in ("global", "shared") or size not in _WORDS:
        return None
    return _Load(step.number, access.size, size, (base, written[base], access.space), step.address.offset)


def _grouped(loads: Sequence[_Load], room: int) -> Iterator[Neighbours]:
    """Those that lie in one word, several at least, or in one record, of which there may be `room` more."""
    kinds: dict[tuple[object, int, int], list[_Load]] = {}
    for one in loads:
        kinds.setdefault((one.base, one.bytes, one.size), []).append(one)
    for (_, unit, size), alike in kinds.items():
        left = sorted(alike, key=lambda one: one.offset)
        while left:
            bytes_, own = _near(left, size, records=room > 0)
            if len(own) > 1:
                start = left[0].offset
                own.sort(key=lambda one: loads.index(one))
                found = Neighbours(size, unit, bytes_, {one.step: one.offset - start for one in own})
                room -= found.record
                yield found
            left = [one for one in left[1:] if one not in own]


def _near(loads: Sequence[_Load], size: int, *, records: bool) -> tuple[int, list[_Load]]:
    """The bytes to load for the lowest of loads and those near it, and which these are."""
    for bytes_, gathers in record_sizes().items():
        own = _within(loads, bytes_)
        if records and size >= _NARROW and _words(own) >= gathers:
            return bytes_, own
    return _WORDS[size], _within(loads, _WORDS[size])


def _within(loads: Sequence[_Load], bytes_: int) -> list[_Load]:
    """Those that lie in so many bytes from the start of the lowest."""
    start, size = loads[0].offset, loads[0].size
    return [
        one for one in loads if one.offset + one.bytes <= start + bytes_ and (one.offset - start) % size == 0
    ]


def _words(loads: Sequence[_Load]) -> int:
    """How many words they lie in, each of which takes a gather."""
    found, end = 0, loads[0].offset
    for one in loads:
        if one.offset + one.bytes > end:
            words = -(-one.bytes // _WORDS[one.size])
            found, end = found + words, one.offset + words * _WORDS[one.size]
    return found
