"""The control flow of machine code: runs of instructions that the same threads execute.

Belongs here: cutting functions into blocks and finding their loops. A block ends where threads may leave it:
at a branch, an exit whether guarded or not, a call, and a BSYNC, behind which threads that parted run
together again. What only rare operands reach is left out: subroutines of the assembler's own (divisions of
denormal numbers and the like) with the blocks that call them, and the detours of warps that have parted
around an operation of whole warps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from ..program.flow_graph import find_loops
from .conservation import OUTSIDE
from .decode import SIZE, Instruction

LEAVE = OUTSIDE  # where threads go that exit or return


@dataclass(frozen=True, slots=True)
class MachineBlock:
    """Instructions that run together; `successors` are block numbers or LEAVE.

    `function` is the function's name and `entry` tells whether it starts here. `rare` blocks are taken to be
    never executed. `meets` tells whether threads that parted meet at the block's end.
    """

    function: str
    instructions: tuple[Instruction, ...]
    successors: tuple[int, ...]
    entry: bool = False
    rare: bool = False

    @property
    def end(self) -> Instruction:
        """The last instruction."""
        return self.instructions[-1]

    @property
    def meets(self) -> bool:
        """Whether threads that parted meet at the end."""
        return self.end.operation.control == "meet"


@dataclass(frozen=True, slots=True)
class MachineGraph:
    """Blocks of a kernel and of the functions that it calls.

    `loops` are sets of blocks, innermost first, and `headers` the blocks where loops begin.
    """

    blocks: tuple[MachineBlock, ...]
    loops: tuple[frozenset[int], ...]
    headers: frozenset[int]


_ENDS = ("branch", "switch", "call", "return", "exit", "meet")


def build_graph(
    functions: Sequence[tuple[str, Sequence[Instruction]]], calls: Collection[int]
) -> MachineGraph:
    """Cut functions into blocks, the kernel first; unreachable code is dropped.

    `calls` are the PTX lines that call a function; other calls are to the assembler's own ones.
    """
    blocks: list[MachineBlock] = []
    loops: dict[int, frozenset[int]] = {}
    for name, code in functions:
        made = _cut(name, code, calls)
        first = len(blocks)
        for block in made:
            moved = tuple(target if target == LEAVE else target + first for target in block.successors)
            blocks.append(MachineBlock(block.function, block.instructions, moved, block.entry, block.rare))
        for header, body in _loops(made).items():
            loops[header + first] = frozenset(node + first for node in body)
    return MachineGraph(tuple(blocks), tuple(sorted(loops.values(), key=len)), frozenset(loops))


def _cut(name: str, code: Sequence[Instruction], calls: Collection[int]) -> list[MachineBlock]:
    """The blocks of one function that can be reached, numbered from 0."""
    starts = {item.offset for item in code[:1]} | {item.target for item in code if item.target is not None}
    starts |= {item.offset + SIZE for item in code if item.operation.control in _ENDS}
    pieces: list[list[Instruction]] = []
    for item in code:
        if item.offset in starts:
            pieces.append([])
        pieces[-1].append(item)
    number = {piece[0].offset: index for index, piece in enumerate(pieces)}
    successors: list[tuple[int, ...]] = [_successors(piece[-1], number) for piece in pieces]
    orphans = tuple(sorted({*range(1, len(pieces))}.difference(*successors)))
    for index, piece in enumerate(pieces):
        if piece[-1].operation.control == "switch":
            successors[index] = orphans  # the table lies elsewhere; nothing else leads to its targets
    rare = [piece[-1].operation.control == "call" and piece[-1].line not in calls for piece in pieces]
    reached = _reach(successors, lambda node: True)
    usual = _reach(successors, lambda node: not rare[node])
    place = {old: new for new, old in enumerate(reached)}
    return [
        MachineBlock(
            name,
            tuple(pieces[old]),
            tuple(target if target == LEAVE else place[target] for target in successors[old]),
            entry=old == 0,
            rare=old not in usual or rare[old],
        )
        for old in reached
    ]


def _reach(successors: Sequence[Iterable[int]], passes: Callable[[int], bool]) -> list[int]:
    """The blocks that can be reached from the first through blocks that pass, in order."""
    seen = {0}
    work = [0] if successors else []
    while work:
        node = work.pop()
        if not passes(node):
            continue
        for target in successors[node]:
            if target != LEAVE and target not in seen:
                seen.add(target)
                work.append(target)
    return sorted(seen) if successors else []


def _successors(end: Instruction, number: dict[int, int]) -> tuple[int, ...]:
    following = number.get(end.offset + SIZE, LEAVE)
    taken = number.get(end.target, LEAVE) if end.target is not None else LEAVE
    match end.operation.control:
        case "branch" if end.parted is not None:
            return (following,) if end.parted else (taken,)
        case "branch":
            return tuple(dict.fromkeys((taken, following))) if end.conditional else (taken,)
        case "exit" | "return":
            return (LEAVE, following) if end.conditional else (LEAVE,)
        case "switch":
            return ()
        case _:
            return (following,)


def _loops(blocks: list[MachineBlock]) -> dict[int, set[int]]:
    if not blocks:
        return {}
    successors = [tuple(target for target in block.successors if target != LEAVE) for block in blocks]
    return find_loops(successors)
