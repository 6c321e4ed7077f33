"""Counters of loops that lanes leave one by one, taken apart from what is left of them behind the loop.

In `while (k < n && text[i + k] == word[k]) k++; out[i] = k;` all lanes that go on have the same `k`, but
those that have left keep theirs in the same register until the last has left, so that nothing simple could be
said of it, nor of the addresses that are computed from it. Here the loop counts in a register of its own, and
whoever may leave copies it: lanes that have left are kept apart in the old register alone, which the loop
does not read.

A counter is a register that every round gives the same value in all lanes that go round, or one that follows
from the thread's index by sums and products. Whether lanes part is not known yet: it is taken for granted of
what is loaded or computed from a thread's index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..isa.types import LLVM_TYPE
from .blocks import (
    Block,
    computed_from,
    index_registers,
    is_on_all_ways,
    loops_of,
    predecessors_of,
)
from .decode import Step
from .renaming import copy_step, with_names

if TYPE_CHECKING:
    from . import Program

# A block, and a step of it.
Place = tuple[int, int]
# Operations by which what follows from the thread's index keeps its form.
_LINEAR = frozenset(("add", "sub", "mul", "mad", "shl", "mov", "cvt", "cvta", "neg"))


def keep_counters(program: Program) -> Program:
    """The program with a register of its own for each counter that lanes leave a loop with."""
    loops = loops_of(program.blocks)
    if not loops or program.fair:  # lanes that take turns stand anywhere in their loop
        return program
    blocks, registers = list(program.blocks), dict(program.registers)
    before = predecessors_of(blocks)
    varied = _varied(blocks)
    steps = _steps(blocks)
    parting = computed_from(steps, varied | index_registers(steps))
    for header, body in sorted(loops.items(), key=lambda loop: len(loop[1])):
        inner = set[int]().union(*(other for other in loops.values() if other < body))
        left = {
            index: frozenset().union(
                *(program.live[target] for target in blocks[index].successors if target not in body)
            )
            for index in sorted(body)
            if not body.issuperset(blocks[index].successors)
        }
        parts = frozenset[str]().union(*(left[index] for index in left if _parts(blocks[index], parting)))
        for name in _counters(blocks, header, body - inner, body, parts - varied):
            starts = _starts(blocks, before, header, body, name) if name in program.live[header] else []
            if LLVM_TYPE[registers[name]] in ("i32", "i64") and starts is not None:
                own = f"{name}.{len(registers)}"
                registers[own] = registers[name]
                ends = [index for index, live in left.items() if name in live]
                _take_apart(blocks, body, name, own, registers[name], starts, ends)
    if len(registers) == len(program.registers):
        return program
    return program.rewritten(tuple(blocks), registers)


def _starts(
    blocks: Sequence[Block], before: Sequence[Sequence[int]], header: int, body: set[int], name: str
) -> list[Place] | None:
    """The steps that give a register what it enters a loop with; None if they are unclear."""
    found: list[Place] = []
    for index in before[header]:
        if index in body:
            continue
        seen: set[int] = set()
        while (last := _last_write(blocks[index], name)) is None:
            seen.add(index)
            if len(before[index]) != 1 or before[index][0] in seen or index == 0:
                return None
            (index,) = before[index]
        if index in body or not _is_free(blocks[index].steps[last]):
            return None
        found.append((index, last))
    return list(dict.fromkeys(found))


def _last_write(block: Block, name: str) -> int | None:
    """The last step of a block that writes a register."""
    return max((k for k, step in enumerate(block.steps) if name in step.writes), default=None)


def _is_free(step: Step) -> bool:
    """Whether a step writes its register for all lanes, and may be given another name for it."""
    return step.instruction.guard is None and not step.match.row.steers


def _take_apart(
    blocks: list[Block],
    body: set[int],
    name: str,
    own: str,
    type_: str,
    starts: Sequence[Place],
    ends: Sequence[int],
) -> None:
    """Give a loop's counter a name of its own, from where it is set first to where the loop is left."""
    names = {name: own}
    for index in body:
        steps = [
            with_names(step, names, names) if name in step.reads or name in step.writes else step
            for step in blocks[index].steps
        ]
        blocks[index] = replace(blocks[index], steps=tuple(steps))
    for index in ends:
        block = blocks[index]
        number = block.all_steps[-1].number
        blocks[index] = replace(block, steps=(*block.steps, copy_step(number, type_, name, own)))
    for index, place in starts:
        steps = list(blocks[index].steps)
        first = with_names(steps[place], {}, names)
        steps[place : place + 1] = [first, copy_step(first.number, type_, name, own)]
        blocks[index] = replace(blocks[index], steps=tuple(steps))


# ------------------------------------------------------------------------------------ what counts
def _counters(
    blocks: Sequence[Block], header: int, own: set[int], body: set[int], names: frozenset[str]
) -> list[str]:
    """Those of some registers that a loop writes only in blocks through which each of its rounds goes once.

    `own` are its blocks that are in no loop within it.
    """
    found: dict[str, set[int]] = {}
    other: set[str] = set()
    for index in body:
        for step in blocks[index].steps:
            for name in names.intersection(step.writes):
                found.setdefault(name, set()).add(index)
                if not _is_free(step):
                    other.add(name)
        # What ends a block keeps its names.
        other.update((*blocks[index].read_at_end, *_of_end(blocks[index])))
    return [
        name
        for name in sorted(found.keys() - other)
        if all(index in own and is_on_all_ways(blocks, header, body, index) for index in found[name])
    ]


def _of_end(block: Block) -> Iterable[str]:
    """The registers of the step that ends a block."""
    return () if block.all_steps == block.steps else (*block.all_steps[-1].reads, *block.all_steps[-1].writes)


def _parts(block: Block, parting: set[str]) -> bool:
    """Whether some lanes may go one way at a block's end and some another."""
    return block.splits is not None and block.splits in parting


# ------------------------------------------------------------------------------------ what varies
def _varied(blocks: Sequence[Block]) -> set[str]:
    """The registers of what was loaded or exchanged, what follows from it, or less simply from the index."""
    steps = _steps(blocks)
    indexed = computed_from(steps, index_registers(steps))
    sources = (
        name
        for step in steps
        if not _is_plain(step)
        or (step.instruction.opcode not in _LINEAR and not indexed.isdisjoint(step.reads))
        for name in step.writes
    )
    return computed_from(steps, sources)


def _is_plain(step: Step) -> bool:
    """Whether a step computes, or reads a parameter."""
    row = step.match.row
    return row.computes or row.access == "parameter"


def _steps(blocks: Iterable[Block]) -> list[Step]:
    return [step for block in blocks for step in block.all_steps]
