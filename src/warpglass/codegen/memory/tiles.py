"""Loops in which each lane walks along its own row: a tile of all rows is loaded at once and kept for rounds.

Lanes that go along rows of a matrix load from as many places as there are lanes in each round, and find what
they will load next beside it. So 64 bytes of each lane's row are loaded together and put down column by
column, where the loads of this round and of the next ones find what all lanes want side by side. A tile is
looked for by its address, so it never matters how a loop goes on; a step that may change memory empties all
tiles (`emptied`), so no lane sees there what it would not have seen before. Where a loop with tiles stores,
through another parameter, a store into the array that a tile is of empties it (`stores`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ...isa.memory import is_strong
from ...isa.types import BITS, LLVM_TYPE
from ...program import Block, Branch, Jump, Program, Step, Switch
from ...program.blocks import loops_of
from ...program.pointers import Base, Word, bases_of
from ..few_lanes.find import FewRegion
from ..values.affine import regular
from ..values.value import Offsets, Value
from .paces import Form, Paces

# Bytes of each lane's row in a tile, and what one that is not filled begins at: no address is near.
ROW = 64
EMPTY = 1 << 63
# Loads that a tile has to serve: to fill it takes as long as a few.
_WORTH = 6
# Bytes between two lanes up to which one access reaches several of them.
_NEAR = 16
# Where a loop with tiles may store.
STORED = frozenset(("global", "shared", "local"))
# What is stored where no tile is of.
_OWN = frozenset(("shared", "local"))
# Tiles of a kernel.
_MOST = 8


@dataclass(frozen=True, slots=True)
class Tile:
    """Loads of a block from one base, by step their distance in bytes from the lowest; `span` is their reach.

    Each loads elements of `size` bytes. A tile's columns are of `unit` bytes, and `whole` says that every
    round begins at a column.
    """

    number: int
    steps: Mapping[int, int]
    span: int
    size: int
    unit: int
    whole: bool

    @property
    def type(self) -> str:
        """The LLVM type of a column's elements."""
        return f"i{8 * self.unit}"


@dataclass(frozen=True, slots=True)
class Tiles:
    """Tiles, the blocks that empty all of them, and the steps that empty those of arrays they store into."""

    tiles: Sequence[Tile] = ()
    emptied: frozenset[int] = frozenset()
    stores: frozenset[int] = frozenset()
    by_step: Mapping[int, Tile] = field(default_factory=dict[int, Tile])


def find_tiles(
    program: Program,
    kinds: Mapping[str, Value],
    lane_loops: Collection[int],
    few_lanes: Mapping[int, FewRegion],
) -> Tiles:
    """The tiles that are worth it."""
    loops = loops_of(program.blocks)
    pointers = bases_of(program)
    found: list[Tile] = []
    stores, looked_after = set[int](), set[int]()
    for header, body in sorted(loops.items()):
        blocks = [program.blocks[index] for index in sorted(body)]
        inner = not any(other in body for other in loops if other != header)
        served = header in program.fair or header in lane_loops or header in few_lanes
        if served or not inner or not all(keeps_memory(block, STORED) for block in blocks):
            continue
        steps = [step for block in blocks for step in block.steps]
        storing = {step.number for step in steps if stores_to(step, ("global",))}
        stored = frozenset[Base]().union(*(pointers[step] for step in storing))
        before, paces = len(found), Paces(steps)
        for block in blocks:
            for members in _put_together(groups_of(block, kinds, _NEAR, write=False), kinds, paces):
                tile = _examine(len(found), paces, members)
                apart = not stored or are_apart(stored, pointers[members[0][0].number])
                if tile is not None and apart and len(found) < _MOST:
                    found.append(tile)
        if len(found) > before:
            stores |= storing
            looked_after |= body
    if not found:
        return Tiles()
    changing = {index for index, block in enumerate(program.blocks) if not keeps_memory(block, _OWN)}
    by_step = {step: tile for tile in found for step in tile.steps}
    # Few lanes store without looking at tiles.
    behind = {header for header, region in few_lanes.items() if any(index in region for index in changing)}
    emptied = frozenset((changing - looked_after) | behind)
    return Tiles(tuple(found), emptied, frozenset(stores), by_step)


def keeps_memory(block: Block, stored: Collection[str] = ()) -> bool:
    """Whether memory is the same at a block's end as at its beginning, as far as its lanes can know.

    That is said of all but the spaces that are `stored` to.
    """
    harmless = (step.match.row.computes or _loads(step) or stores_to(step, stored) for step in block.steps)
    return isinstance(block.end, Branch | Jump | Switch) and all(harmless)


def are_apart(one: frozenset[Base], other: frozenset[Base]) -> bool:
    """Whether addresses are computed from different parameters; those may point to one array all the same."""
    return one.isdisjoint(other) and all(isinstance(base, Word) for base in one | other)


def _loads(step: Step) -> bool:
    found = step.match.load_or_store
    if found is None:
        return step.match.row.access == "parameter"
    return not found.writes and not is_strong(step.match) and not step.match.row.waits


def stores_to(step: Step, spaces: Collection[str]) -> bool:
    found = step.match.load_or_store
    return found is not None and found.writes and found.space in spaces and not is_strong(step.match)


def groups_of(
    block: Block, kinds: Mapping[str, Value], near: int, *, write: bool
) -> Iterable[list[tuple[Step, int]]]:
    """A block's loads or stores, those from one value of a base together, with their offsets.

    Their lanes are more than `near` bytes from each other.
    """
    found: dict[tuple[object, ...], list[tuple[Step, int]]] = {}
    writers: dict[str, int] = {}
    for step in block.steps:
        access = step.match.load_or_store
        base = None if access is None else step.address_register
        kept = access is not None and access.writes == write and not is_strong(step.match)
        if access is not None and kept and base is not None and step.instruction.guard is None:
            offsets = kinds[base].offsets
            if access.space == "global" and offsets is not None and _apart(offsets, access.size, near):
                offset = step.address.offset
                key = (
                    base,
                    writers.get(base),
                    access.size,
                    bytes_of_element(step),
                    offset % bytes_of_element(step),
                )
                found.setdefault(key, []).append((step, offset))
        writers |= dict.fromkeys(step.writes, step.number)
    return found.values()


def _apart(offsets: Offsets, size: int, near: int) -> bool:
    """Whether lanes lie in places of their own, whole elements from each other."""
    ordered = sorted(offsets)
    return regular(offsets, size) and all(b - a > near for a, b in pairwise(ordered))


def bytes_of_element(step: Step) -> int:
    """The bytes of each element that a load loads."""
    _, _, type_ = step.match.forms()[0]
    return BITS[LLVM_TYPE[type_]] // 8


def _put_together(
    groups: Iterable[list[tuple[Step, int]]], kinds: Mapping[str, Value], paces: Paces
) -> Iterable[list[tuple[Step, int]]]:
    """Groups, and those of single loads that are one load of a loop that was unrolled."""
    alike: dict[tuple[Form, int | None, Offsets | None, int, int], list[tuple[Step, int]]] = {}
    for members in groups:
        (step, _), base = members[0], members[0][0].address_register
        access = step.match.load_or_store
        assert access is not None
        assert base is not None
        if len(members) > 1 or paces.of(base) is None:
            yield members
        else:
            key = paces.form(base), paces.of(base), kinds[base].offsets, access.size, bytes_of_element(step)
            alike.setdefault(key, []).append((step, 0))
    for (_, pace, _, size, _), members in alike.items():
        yield from [members] if len(members) * size == pace else ([one] for one in members)


def _examine(number: int, paces: Paces, members: Sequence[tuple[Step, int]]) -> Tile | None:
    """The tile of some loads, if a round goes on where the one before ended, or nearly so."""
    first, low = min(members, key=lambda one: one[1])
    access = first.match.load_or_store
    assert access is not None
    assert first.address_register is not None
    pace, size = paces.of(first.address_register), bytes_of_element(first)
    span = max(offset for _, offset in members) + access.size - low
    if not pace or pace < 0 or pace % size or span > ROW:
        return None
    rounds = 1 + (ROW - span) // pace
    elements = len(members) * access.size // size
    if rounds < 2 or rounds * elements < _WORTH:
        return None
    unit = max(size, 4)
    distances = {step.number: offset - low for step, offset in members}
    return Tile(number, distances, span, size, unit, pace % unit == 0)
