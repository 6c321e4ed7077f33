"""Merged bounds checks: accesses of a basic block at known distances from each other, checked at once.

Unrolled loops access `[a]`, `[a+4]`, `[a+8]`, ...: one comparison says that all are within a range.
Where that saves enough, there are two versions of a region of the block: one without the checks of these
accesses, for a warp whose hulls (the smallest intervals that hold all lanes' accesses from one base) lie in
their ranges, and one with lanes served by functions, which is compact, for the others. What addresses need
is computed in front of the region.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...isa.types import LLVM_TYPE
from ...program import Block, Program, Step
from ..values.affine import regular
from ..values.value import Offsets, Value
from .structures import Element, Structure, element_bytes, find_structures, only_loads

# Checks that a region must save, and its steps for each of them.
_WORTH, _LENGTH = 3, 10
# Steps of a kernel that are emitted twice at most, so that long ones do not take longer to compile for it.
_MOST_TWICE = 1000
_WORD = 4  # bytes
# Places in a block at which a region is tried to begin.
_STARTS = 16


@dataclass(frozen=True, slots=True)
class _Access:
    """One access: its position in the block, and where its lanes begin, from what several bases may share."""

    position: int
    base: str
    shared: str | int  # the base or, of bases at known distances from each other, a number for all of them
    distance: int  # from there to the base
    offset: int  # from there to the access
    space: str
    write: bool
    size: int


@dataclass(frozen=True, slots=True)
class MergedCheck:
    """One check for several accesses from one base.

    It is for bytes `low` to `high` from the base's scalar, aligned to `size`. `leader`, a step, has it;
    `places` are the distances from the scalar to the accesses, by step. `words` tells of narrow loads that
    lie in one word, with nothing between them that may change it, at what distance that begins, and a number
    for all that find the same there; `structures` are those of which every lane accesses several elements.
    """

    base: str
    space: str
    write: bool
    low: int
    high: int
    size: int
    leader: int
    places: Mapping[int, int]
    words: Mapping[int, tuple[int, int]]
    structures: Sequence[Structure]

    @property
    def saved(self) -> int:
        """How many checks and accesses it saves."""
        return len(self.places) - 1 + sum(len(structure.places) - 1 for structure in self.structures)


@dataclass(frozen=True, slots=True)
class VersionedRegion:
    """A block's steps in the order in which they are emitted, and which of them twice: `first` to `last`."""

    steps: tuple[Step, ...]
    first: int
    last: int
    checks: tuple[MergedCheck, ...]

    @property
    def read_behind(self) -> frozenset[str]:
        """Registers that the block's steps read after the region."""
        return frozenset().union(*(step.reads for step in self.steps[self.last :]))


def merge_checks(program: Program, kinds: Mapping[str, Value]) -> dict[int, VersionedRegion]:
    """The regions that are worth it, by the number of their block."""
    types = {name: LLVM_TYPE[type_] for name, type_ in program.registers.items()}
    bases = {name: kind for name, kind in kinds.items() if kind.offsets is not None and types[name] == "i64"}
    shared = program.shared
    room = 0 if shared.static in shared.offsets.values() else shared.static  # unless some is dynamic
    found: dict[int, VersionedRegion] = {}
    left = _MOST_TWICE
    for index, block in enumerate(program.blocks):
        region = _find(block, bases, room) if left > 0 else None
        if region is not None and region.last - region.first <= left:
            found[index] = region
            left -= region.last - region.first
    return found


def _find(block: Block, bases: Mapping[str, Value], room: int) -> VersionedRegion | None:
    if sum(step.match.load_or_store is not None for step in block.steps) <= _WORTH:
        return None
    steps = _computed_first(block.steps)
    accesses = [one for position, step in enumerate(steps) if (one := _access(position, step, bases, room))]
    written: dict[str, list[int]] = {}
    for position, step in enumerate(steps):
        for name in step.writes:
            written.setdefault(name, []).append(position)
    used = {access.base for access in accesses}
    starts = sorted({0, *(position + 1 for name in used for position in written.get(name, ()))})[:_STARTS]
    best: tuple[int, int, list[_Access], list[MergedCheck]] | None = None
    for start in starts:
        known = [
            access
            for access in accesses
            if access.position >= start
            and not any(start <= position < access.position for position in written.get(access.base, ()))
        ]
        checks = _merge(known, steps, bases)
        saved = sum(check.saved for check in checks)
        if best is None or saved > best[0]:
            best = saved, start, known, checks
    if best is None or best[0] < _WORTH:
        return None
    saved, _, known, checks = best
    served = frozenset().union(*(check.places for check in checks))
    positions = [access.position for access in known if steps[access.position].number in served]
    parts = frozenset().union(*(check.words for check in checks))
    first, last = min(positions), _with_parts_joined(steps, max(positions) + 1, parts)
    return VersionedRegion(steps, first, last, tuple(checks)) if last - first <= _LENGTH * saved else None


def _with_parts_joined(steps: Sequence[Step], last: int, parts: frozenset[int]) -> int:
    """The end of a region with the steps behind it that are all about parts of words.

    What joins them again is known to be of these words only within the region.
    """
    known = set[str]()
    for position, step in enumerate(steps):
        joins = step.match.row.computes and bool(step.reads) and known.issuperset(step.reads)
        if position >= last and not (joins and step.instruction.guard is None):
            return position
        known = known.union(step.writes) if joins or step.number in parts else known.difference(step.writes)
    return len(steps)


def _computed_first(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps with what can be computed in front moved there; nobody sees the difference."""
    writes = Counter(name for step in steps for name in step.writes)
    early: list[Step] = []
    late: list[Step] = []
    touched: set[str] = set()  # registers that the steps left behind read or write
    left: set[str] = set()  # those that they write
    for step in steps:
        row = step.match.row
        if (
            row.computes
            and row.unit != "misc"  # a move may read a clock
            and step.instruction.guard is None
            and all(writes[name] == 1 and name not in touched for name in step.writes)
            and left.isdisjoint(step.reads)
        ):
            early.append(step)
        else:
            late.append(step)
            touched.update(step.reads, step.writes)
            left.update(step.writes)
    return (*early, *late)


def _access(position: int, step: Step, bases: Mapping[str, Value], room: int) -> _Access | None:
    """The access that a step makes from a base whose lanes are at known distances.

    Shared memory has `room` bytes, if that is known (not 0): of lanes that are further apart, only some act.
    """
    found = step.match.load_or_store
    if found is None or step.instruction.guard is not None:
        return None
    base = step.address_register
    if found.space not in ("global", "shared") or base is None:
        return None
    kind = bases.get(base)
    if kind is None or kind.offsets is None or not regular(kind.offsets, found.size):
        return None
    if found.space == "shared" and max(kind.offsets) - min(kind.offsets) + found.size > room > 0:
        return None
    # Another base's guard says nothing of this one's scalar.
    shared, distance = (base, 0) if step.origin is None or kind.ok is not None else step.origin
    offset = distance + step.address.offset
    return _Access(position, base, shared, distance, offset, found.space, found.writes, found.size)


def _merge(
    accesses: Sequence[_Access], steps: Sequence[Step], bases: Mapping[str, Value]
) -> list[MergedCheck]:
    groups: dict[tuple[object, ...], list[_Access]] = {}
    for access in accesses:
        key = access.shared, bases[access.base].offsets, access.space, access.write
        groups.setdefault(key, []).append(access)
    return [_merged(members, steps, bases[members[0].base].offsets or ()) for members in groups.values()]


def _merged(members: Sequence[_Access], steps: Sequence[Step], offsets: Offsets) -> MergedCheck:
    leader = max(members, key=lambda access: access.size)
    start = leader.offset + min(offsets)  # where a whole element of the leader's size begins
    fitting = [one for one in members if (one.offset + min(offsets) - start) % one.size == 0]
    lowest = min(one.offset for one in fitting) + min(offsets)
    elements = [_element(one, steps[one.position], leader.distance) for one in fitting]
    return MergedCheck(
        leader.base,
        leader.space,
        leader.write,
        start - -(-(start - lowest) // leader.size) * leader.size - leader.distance,
        max(one.offset + one.size for one in fitting) + max(offsets) - leader.distance,
        leader.size,
        steps[leader.position].number,
        {steps[one.position].number: one.offset - leader.distance for one in fitting},
        {} if leader.write else _find_words(fitting, steps, leader.distance),
        find_structures(elements, steps, offsets, write=leader.write),
    )


def _element(access: _Access, step: Step, origin: int) -> Element:
    size = element_bytes(step)
    return Element(access.position, access.offset - origin, access.size, size, step.number)


def _find_words(members: Sequence[_Access], steps: Sequence[Step], origin: int) -> dict[int, tuple[int, int]]:
    """The words that narrow loads share; all bytes from the first load to the last may be read."""
    changes = [k for k, step in enumerate(steps) if not (step.match.row.computes or only_loads(step))]
    end = max(one.offset + one.size for one in members)
    small = [one for one in members if one.size < _WORD and only_loads(steps[one.position])]
    narrow = sorted((bisect(changes, one.position), one.offset, one.size, one.position) for one in small)
    found: dict[int, tuple[int, int]] = {}
    while narrow:
        era, start, _, _ = narrow[0]
        own = [one for one in narrow if one[0] == era and one[1] + one[2] <= start + _WORD]
        if len(own) > 1 and start + _WORD <= end:
            found |= {steps[position].number: (start - origin, era) for _, _, _, position in own}
        narrow = narrow[len(own) :]
    return found
