"""Loops that lanes run one after the other, in scalars: which they are and what their code needs.

Lanes whose loops are of different lengths, over addresses of their own, as the rows of a sparse matrix, go
round together until the longest is done, and every load is a gather of as many loads as there are lanes. A
scalar loop costs each lane its own rounds only, and its loads are plain ones. That holds for loops of one
block that part lanes, do nothing but compute, load and store, and whose rounds can be counted in front of
them (rounds.py); `code.py` emits them. Those that store are among them if stores.py finds that lanes need not
see each other's. For other loops it takes a measurement to know whether lanes are better off alone
(few_lanes/one_by_one.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...isa.memory import is_strong
from ...isa.types import LLVM_TYPE
from ...program import Block, Branch, Program, Step
from ...program.blocks import loops_of
from ...program.pointers import Word, bases_of
from ...ptx import tree
from ..infer import Inference
from ..values.value import Offsets, one_value

_SPACES = ("global", "const", "generic", "shared")
# Steps of a loop that is emitted twice, and of all such loops of a kernel.
_LONGEST, _MOST = 200, 600
# Bytes between two lanes up to which one access reaches several of them.
_NEAR = 16

_Source = tuple[str, int]  # a register that is read, and the step of the block that has written it, or -1


@dataclass(frozen=True, slots=True)
class Group:
    """Loads, or stores, of a block from one base, checked by the first: bytes `low` to `high` from the base.

    `size` is what each loads; all lie a whole number of that apart. `steps` gives each load's distance in
    bytes from the lowest. Groups of one `place` share a range: their addresses are computed from the same
    pointers, `array` if those are known. `root` is a register that the base is computed from and that no
    round writes; what is added to it is the same for all groups of an `index`, None if that is not known.
    """

    place: object
    array: object
    writes: bool
    base: str | None
    root: str | None
    index: object
    space: str
    size: int
    low: int
    high: int
    leader: int
    steps: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class LaneLoop:
    """A loop: its one block, where lanes go from it, and registers.

    `read` are those that a round may read before it writes them, `kept` those that it writes and that are
    read after the loop.
    """

    header: int
    exit: int
    groups: tuple[Group, ...]
    read: frozenset[str]
    written: frozenset[str]
    kept: frozenset[str]

    @property
    def stores(self) -> bool:
        """Whether lanes change memory."""
        return any(group.writes for group in self.groups)


def find_lane_loops(program: Program, found: Inference) -> dict[int, LaneLoop]:
    """The loops that are worth it, by the number of their header."""
    loops: dict[int, LaneLoop] = {}
    left = _MOST
    for header, loop in find_possible_loops(program, found).items():
        length = len(program.blocks[header].steps)
        if length <= left and _pays(program, loop, found):
            loops[header] = loop
            left -= length
    return loops


def find_possible_loops(program: Program, found: Inference) -> dict[int, LaneLoop]:
    """The loops that lanes might run alone, whether it is worth it or not."""
    headers = sorted(header for header, body in loops_of(program.blocks).items() if len(body) == 1)
    loops = {header: _examine(program, found, header) for header in headers}
    return {header: loop for header, loop in loops.items() if loop is not None}


def _examine(program: Program, found: Inference, header: int) -> LaneLoop | None:
    """A loop if lanes may run it alone."""
    block = program.blocks[header]
    steps = block.steps
    outside = set(block.successors) - {header}
    written = frozenset(name for step in steps for name in step.writes)
    if (
        len(steps) > _LONGEST
        or header in program.fair
        or not isinstance(block.end, Branch)
        or len(outside) != 1
        or not found.divergent[header]
        or not all(_is_simple(step, program) for step in steps)
    ):
        return None
    (exit_,) = outside
    kept = written & program.live[exit_]
    # Lanes may leave while others stay: only then may some be done alone and others not.
    leaving = exit_ in found.pending.sets[header] or program.blocks[exit_].only_exits
    if not leaving or any(found.offsets(name) is not None for name in kept):
        return None
    groups = _find_groups(program, block, written)
    read = program.live[header] & (frozenset(name for step in steps for name in step.reads) | written)
    return LaneLoop(header, exit_, groups, read, written, kept)


def _is_simple(step: Step, program: Program) -> bool:
    """Whether a step does no more than compute, store, or load what nobody waits for."""
    row = step.match.row
    if row.waits or step.number in program.ordered:
        return False
    if any(isinstance(one, tree.Special) for one in step.instruction.operands):
        return False
    access = step.match.load_or_store
    if access is None:
        return row.computes
    plain = step.instruction.guard is None and step.number not in program.strays
    if access.writes:
        return plain and access.space == "global" and not is_strong(step.match)
    return plain and access.space in _SPACES


def _pays(program: Program, loop: LaneLoop, found: Inference) -> bool:
    """Whether lanes are better off alone: where they would gather, from addresses that do not wait for loads.

    An address that depends on what the round before has loaded, as in a search or along a list, makes a lane
    wait for each load; together, the lanes' loads are under way at once.
    """
    steps, live, written = program.blocks[loop.header].steps, program.live[loop.header], loop.written
    accesses = [step.address_register for step in steps if step.match.load_or_store]
    bases = {base for base in accesses if base is None or base in written}  # others stay where they are
    first = next((base for base in accesses if base in written), None)
    forms = {base: found.offsets(base) for base in bases if base is not None}
    stores = any(access.writes for access in (step.match.load_or_store for step in steps) if access)
    own = {base for base, form in forms.items() if form is None or (stores and are_apart(form))}
    if first not in own or not all(base in own or one_value(form) for base, form in forms.items()):
        return False
    loaded = reached(steps, {name for step in steps if step.match.load_or_store for name in step.writes})
    return bases.isdisjoint(reached(steps, loaded & live & written))


def are_apart(offsets: Offsets) -> bool:
    """Whether lanes lie in rows of their own, at known distances from each other."""
    return all(b - a > _NEAR for a, b in pairwise(sorted(offsets)))


def reached(steps: Sequence[Step], sources: set[str]) -> set[str]:
    """The registers whose values some registers may decide."""
    found, before = set(sources), -1
    while len(found) > before:
        before = len(found)
        found.update(name for step in steps if not found.isdisjoint(step.reads) for name in step.writes)
    return found


def _find_groups(program: Program, block: Block, written: frozenset[str]) -> tuple[Group, ...]:
    """The loads and stores of a loop, those from one value of a base together."""
    words = frozenset(name for name, type_ in program.registers.items() if LLVM_TYPE[type_] == "i64")
    pointers = bases_of(program)
    groups: list[Group] = []
    sources: dict[int, frozenset[_Source]] = {}
    for leader, members in _members(block, sources).items():
        step, writer, _ = members[0]
        access = step.match.load_or_store
        assert access is not None
        space, size, writes = access.space, access.size, access.writes
        base = step.address_register
        root = None if space == "shared" or base is None else _root(base, writer, words - written)
        index = None if root is None or writer is None else _index(writer, sources[writer.number], root)
        # An index that was loaded may count as a base, too: only what a parameter points to stays.
        place = frozenset(one for one in pointers[leader] if isinstance(one, Word)) or leader
        low = min(offset for _, _, offset in members)
        high = max(offset for _, _, offset in members) + size
        steps = {step.number: offset - low for step, _, offset in members}
        same = place, space, size, writes
        groups.append(Group(same, place, writes, base, root, index, space, size, low, high, leader, steps))
    return tuple(groups)


def _index(writer: Step, sources: frozenset[_Source], root: str) -> object:
    """What is added to a root, if the step that computes an address does no more; None if that is unknown."""
    others = frozenset(source for source in sources if source[0] != root)
    adds = writer.match.row.operation == "sum" and writer.instruction.guard is None
    return others if adds and len(others) == 1 and min(others)[1] >= 0 else None


def _members(
    block: Block, sources: dict[int, frozenset[_Source]]
) -> dict[int, list[tuple[Step, Step | None, int]]]:
    """By each group's first load: its loads, each with the step that wrote its base, and its offset.

    `sources` takes what each step reads, and which step has written that.
    """
    found: dict[tuple[object, ...], list[tuple[Step, Step | None, int]]] = {}
    writers: dict[str, Step] = {}
    for step in block.steps:
        access = step.match.load_or_store
        if access is not None:
            space, size = access.space, access.size
            base, offset = step.address_register, step.address.offset
            writer = writers.get(base or "")
            # Addresses of shared memory may be of 32 bits and wrap.
            key = base, writer and writer.number, space, size, offset % size, access.writes
            alone = base is None or space == "shared"
            found.setdefault((step.number,) if alone else key, []).append((step, writer, offset))
        written = {name: writer.number for name, writer in writers.items()}
        sources[step.number] = frozenset((name, written.get(name, -1)) for name in step.reads)
        writers |= dict.fromkeys(step.writes, step)
    return {members[0][0].number: members for members in found.values()}


def _root(base: str, writer: Step | None, fixed: frozenset[str]) -> str | None:
    """The one register of 64 bits that does not change in a loop and that an address is made of."""
    names = fixed & ({base} if writer is None else writer.reads)
    return min(names) if len(names) == 1 else None
