"""Where threads pass by the last barriers that they might have come to, and whether they have returned.

Belongs here: what is known of a program's barriers without running it, those of the block or those of the
cluster. An edge of the control flow is a **departure** if a barrier lies ahead of its start and none ahead of
its end. Threads that take one while others come to another barrier miss that barrier, unless they have
returned: a thread that has ended is not waited for. Compilers make the same code of a return in front of a
barrier and of a barrier in a branch, so the text of the branch's statement decides (outline.py); where that
is not to be had, a barrier to the right of its branch is taken to be inside it.

Two compilers' copies of one barrier are one if no thread can come to both on one way (`alternatives`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ....codegen import Emission
from ....codegen.values.value import Value
from ....program import Barrier, Block, Branch, Step
from ....ptx import tree
from ....ptx.tree import SourceLocation
from ..instrumentation import inlining
from .outline import outline


@dataclass(frozen=True, slots=True)
class Cause:
    """One of the conditions for which threads take a departure: that a register is true, or is false.

    A condition without a register is all others. `returned` says that the threads have then ended.
    """

    register: str
    holds: bool
    returned: bool


@dataclass(frozen=True, slots=True)
class Departure:
    """Why threads take an edge: the first cause that holds, in the order of the text, counts."""

    step: Step
    causes: tuple[Cause, ...]


def block_barriers(blocks: Sequence[Block]) -> dict[int, Step]:
    """The barriers of the block, by the blocks of the program that they end."""
    return {index: block.end.step for index, block in enumerate(blocks) if isinstance(block.end, Barrier)}


def find_departures(
    blocks: Sequence[Block], barriers: Mapping[int, Step]
) -> dict[tuple[int, int], Departure]:
    """The departures, by the blocks that an edge connects; those only of threads that return left out.

    `barriers` has the steps of those that count, by the block that one is in.
    """
    ahead = leading_to(blocks, barriers)
    found: dict[tuple[int, int], Departure] = {}
    for index, block in enumerate(blocks):
        if block.splits is None or ahead.isdisjoint(block.successors):
            continue
        for target in set(block.successors) - ahead:
            causes = tuple(_causes(blocks, index, target, barriers))
            if not all(cause.returned for cause in causes):
                found[index, target] = Departure(block.all_steps[-1], causes)
    return found


def leading_to(blocks: Sequence[Block], to: Collection[int]) -> frozenset[int]:
    """The blocks from which threads may come to one of some blocks."""
    found = set(to)
    changed = True
    while changed:
        more = {index for index, block in enumerate(blocks) if found & set(block.successors)} - found
        found |= more
        changed = bool(more)
    return frozenset(found)


def _causes(
    blocks: Sequence[Block], index: int, target: int, barriers: Mapping[int, Step]
) -> Iterator[Cause]:
    """Those of an edge: the parts of the branch's condition that compilers have put together."""
    block = blocks[index]
    following = frozenset[int]().union(*(blocks_from(blocks, one) for one in block.successors))
    missed = [_frames(step) for one, step in barriers.items() if one in following]
    own = _frames(block.all_steps[-1])
    leaves: list[tuple[list[SourceLocation], str, bool]] = [(own, "", True)]
    if isinstance(block.end, Branch):
        taken = block.end.taken == target
        leaves = list(_parts(block, block.end.register, taken is not block.end.negated, own))
        if len(leaves) == 1 and own:  # a comparison that is not told apart may stand anywhere
            leaves = [(own, *leaves[0][1:])]
    idle = not any(
        step.match.row.access for one in blocks_from(blocks, target) for step in blocks[one].all_steps
    )
    for frames, register, holds in sorted(leaves, key=lambda leaf: _order(leaf[0])):
        returned = all(_returned_before(frames, barrier, ends=idle) for barrier in missed)
        yield Cause(register, holds, returned)


def _order(frames: list[SourceLocation]) -> list[tuple[int, int]]:
    return [(one.line, one.column) for one in frames]


def _parts(
    block: Block, register: str, holds: bool, own: list[SourceLocation]
) -> Iterator[tuple[list[SourceLocation], str, bool]]:
    """The conditions of which any makes a predicate what it is, each with its place."""
    written = [step for step in block.steps if register in step.writes]
    step = written[0] if len(written) == 1 and not written[0].instruction.guard else None
    opcode = "" if step is None else step.instruction.opcode.partition(".")[0]
    operands = [] if step is None else [_register(one) for one in step.instruction.operands[1:]]
    if step is not None and opcode == "not" and operands[0]:
        yield from _parts(block, operands[0], not holds, own)
    elif step is not None and opcode == ("or" if holds else "and") and all(operands):
        for name in operands:
            yield from _parts(block, name, holds, own)
    else:
        deciding = step is not None and opcode == "setp"
        yield (_frames(step) or own if deciding and step is not None else own), register, holds


def _register(operand: tree.Operand) -> str:
    return operand.name if isinstance(operand, tree.Register) else ""


def _frames(step: Step) -> list[SourceLocation]:
    """Where a step is in the source: in its kernel, in the function called there, and so on inwards."""
    return inlining(step)[::-1]


def blocks_from(blocks: Sequence[Block], start: int, *, forwards: bool = False) -> frozenset[int]:
    """A block and those that follow it, on the way `forwards` without a jump back."""
    found, work = {start}, [start]
    while work:
        index = work.pop()
        more = {one for one in blocks[index].successors if one > index or not forwards} - found
        found |= more
        work += more
    return frozenset(found)


def _returned_before(branch: list[SourceLocation], barrier: list[SourceLocation], *, ends: bool) -> bool:
    """Whether threads that part at a place from those that come to a barrier have ended.

    Both places are in the functions of one call or more: the innermost of them is looked at. `ends` says that
    nothing that anyone could notice is done behind it.
    """
    if not branch:  # no lines are known
        return ends
    depth = 0
    while depth + 1 < min(len(branch), len(barrier)) and branch[depth] == barrier[depth]:
        depth += 1
    here, there = branch[depth], barrier[depth] if barrier else None
    if depth > 0 and not ends:  # who returns from a function that was called goes on
        return False
    inside = there if there is not None and there.file == here.file else None
    text = outline(here.file)
    if text is not None:
        place = None if inside is None else (inside.line, inside.column)
        return text.returns_at((here.line, here.column), place)
    if inside is None or not here.column:
        return ends
    return inside.column <= here.column and inside.line > here.line


# -------------------------------------------------------------------------------------------- copies
def alternatives(blocks: Sequence[Block]) -> Mapping[int, Step]:
    """Of each barrier's step, by number, the first of those that are copies of one barrier in the text.

    Copies that follow each other, as of an unrolled loop, are different barriers.
    """
    ends = [(index, block.end.step) for index, block in enumerate(blocks) if isinstance(block.end, Barrier)]
    ahead = {index: blocks_from(blocks, index, forwards=True) for index, _ in ends}
    classes: list[list[tuple[int, Step]]] = []
    found: dict[int, Step] = {}
    for index, step in ends:
        for one in classes:
            apart = all(index not in ahead[other] and other not in ahead[index] for other, _ in one)
            if lines_of(one[0][1]) == lines_of(step) and apart:
                one.append((index, step))
                break
        else:
            one = [(index, step)]
            classes.append(one)
        found[step.number] = one[0][1]
    return found


def lines_of(step: Step) -> tuple[object, ...]:
    """Where a step is in the author's file, and the calls there that it was inlined from."""
    chain = inlining(step)
    if not chain:
        return (step.number,)
    return tuple((one.file, one.line) for one in chain if one.file == chain[-1].file)


# --------------------------------------------------------------------------------------- generated code
def departed(at: Emission, departure: Departure, read: Callable[[str], Value]) -> str:
    """The mask of the lanes that take a departure and have not returned."""
    b, left, gone = at.builder, at.mask, "0"
    if not any(cause.returned for cause in departure.causes):
        return left
    for cause in departure.causes:
        here = left
        if cause.register:
            bits = b.mask_bits(at.lanes.as_vector(read(cause.register)).ir)
            here = b.value(f"and i32 {left}, {bits if cause.holds else b.value(f'xor i32 {bits}, -1')}")
        left = b.value(f"xor i32 {left}, {here}")
        if not cause.returned:
            gone = b.value(f"or i32 {gone}, {here}")
    return gone
