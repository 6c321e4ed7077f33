"""Structures of which every lane accesses several elements: which accesses of a merged check do.

An array of structures has that of each lane behind the one of the lane before, so the warp's are one run of
memory. Loads of elements of it, with nothing between them that may change it, share the run's loads; stores
with nothing but computing between them are one store of the run.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...isa.memory import is_strong
from ...isa.types import BITS, LLVM_TYPE
from ...program import Step
from ..values.value import Offsets
from .narrow_vectors import word_type

# Bytes from one lane's structure to the next at most, and how many times what is accessed of one.
_WIDEST, _SPARSE = 64, 4


@dataclass(frozen=True, slots=True)
class Structure:
    """Elements of `size` bytes of structures `stride` bytes apart, which steps access.

    `places` says how many bytes behind the lowest element each step's begin, in the steps' order, and `start`
    how far that is from the check's scalar for a lane at offset 0. `bytes` reach from a lane's lowest element
    to the end of its highest.
    """

    start: int
    stride: int
    size: int
    bytes: int
    places: Mapping[int, int]

    @property
    def last(self) -> int:
        """The step that comes last."""
        return list(self.places)[-1]

    @property
    def fields(self) -> int:
        """How many elements lie from one lane's structure to the next."""
        return self.stride // self.size


@dataclass(frozen=True, slots=True)
class Element:
    """An access to elements: the position and the number of its step, and its offset from the scalar."""

    position: int
    offset: int
    bytes: int
    size: int  # of one of them
    step: int

    @property
    def end(self) -> int:
        """Where its last element ends."""
        return self.offset + self.bytes


def element_bytes(step: Step) -> int:
    """The bytes of each element that a load or a store accesses; vectors of narrow ones are words."""
    access = step.match.load_or_store
    assert access is not None
    type_ = LLVM_TYPE[step.match.forms()[0][2]]
    word = word_type(type_, 8 * access.size // BITS[type_])
    return BITS[type_] // 8 if word is None else access.size


def only_loads(step: Step) -> bool:
    """Whether a step loads, and nobody asks in which order."""
    found = step.match.load_or_store
    return found is not None and not found.writes and not is_strong(step.match)


def find_structures(
    elements: Sequence[Element], steps: Sequence[Step], offsets: Offsets, *, write: bool
) -> tuple[Structure, ...]:
    """The structures of accesses at known offsets from one scalar, of lanes at `offsets` from each other."""
    stride = offsets[1] - offsets[0]
    if not 0 < stride <= _WIDEST or any(b - a != stride for a, b in pairwise(offsets)):
        return ()
    weak = [one for one in elements if not is_strong(steps[one.position].match)]
    found: list[Structure] = []
    for era in _stored_together(weak, steps, stride) if write else _loaded_together(weak, steps):
        for size in sorted({one.size for one in era if stride % one.size == 0}):
            left = sorted((one for one in era if one.size == size), key=lambda one: one.offset)
            while left:
                start = left[0].offset
                own = [one for one in left if (one.offset - start) % size == 0 and one.end <= start + stride]
                left = [one for one in left if one not in own]
                if len(own) > 1 and stride <= _SPARSE * sum(one.bytes for one in own):
                    places = {
                        one.step: one.offset - start for one in sorted(own, key=lambda one: one.position)
                    }
                    end = max(one.end for one in own)
                    found.append(Structure(start, stride, size, end - start, places))
    return tuple(found)


def _loaded_together(elements: Sequence[Element], steps: Sequence[Step]) -> list[list[Element]]:
    """The accesses between which nothing may change memory."""
    changes = [k for k, step in enumerate(steps) if not (step.match.row.computes or only_loads(step))]
    eras: dict[int, list[Element]] = {}
    for one in elements:
        eras.setdefault(bisect(changes, one.position), []).append(one)
    return list(eras.values())


def _stored_together(elements: Sequence[Element], steps: Sequence[Step], stride: int) -> list[list[Element]]:
    """The accesses, none to what another one accesses, between which there is nothing but computing."""
    own = {one.position for one in elements}
    others = [k for k, step in enumerate(steps) if not (step.match.row.computes or k in own)]
    eras: list[list[Element]] = []
    for one in sorted(elements, key=lambda one: one.position):
        era = eras[-1] if eras else []
        near = [*era, one]
        reach = max(each.end for each in near) - min(each.offset for each in near)
        apart = all(one.end <= each.offset or each.end <= one.offset for each in era)
        same = bool(era) and bisect(others, era[-1].position) == bisect(others, one.position)
        if same and apart and reach <= stride:
            era.append(one)
        else:
            eras.append([one])
    return eras
