"""Registers that a loop goes on with, taken apart: what was computed before it keeps a register of its own.

Compilers let a loop count in the register that it begins with: `for (i = threadIdx.x; i < n; i += 64)` adds
to the register that holds the index of the thread, if nothing behind the loop needs that. What is known of a
register holds wherever it is read, and so nothing would be known of the index in front of the loop either.
Here the loop gets a register, which is set before it is entered. So does what a selection gives that stands
in a register of another value (selections.py). Only integers do, of which forms are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..isa.types import LLVM_TYPE
from .blocks import Block, Exit, Jump, computed_from, index_registers, predecessors_of
from .decode import Step
from .flow_graph import find_loops
from .renaming import copy_step, with_names

if TYPE_CHECKING:
    from . import Program

# What a register holds: what a step of a block writes; what it holds where a block begins (-1), to which
# several of these lead.
Version = tuple[int, int]
_START: Version = (-1, -1)


@dataclass
class _Web:
    """The versions of one register, and which of them stay in one register."""

    into: dict[int, Version] = field(default_factory=dict[int, Version])  # by block in which it is live
    out: dict[int, Version] = field(default_factory=dict[int, Version])
    reads: Counter[Version] = field(default_factory=Counter[Version])
    written: set[Version] = field(default_factory=set[Version])
    parents: dict[Version, Version] = field(default_factory=dict[Version, Version])

    def group(self, version: Version) -> Version:
        """One version that stands for all that share its register."""
        while version in self.parents:
            version = self.parents[version]
        return version

    def join(self, one: Version, other: Version) -> None:
        """Let two versions share a register."""
        one, other = self.group(one), self.group(other)
        if one != other:
            self.parents[max(one, other)] = min(one, other)


class _Ranges:
    """The blocks of a program, and what its loops go on with."""

    def __init__(self, program: Program):
        self.blocks, self.live = program.blocks, program.live
        self.before = predecessors_of(self.blocks)
        self.loops = find_loops([block.successors for block in self.blocks])
        self.places: dict[str, list[int]] = {}  # by register: the blocks that write it
        self._chosen: set[str] = set()
        bound: set[str] = set()
        for index, block in enumerate(self.blocks):
            for step in block.steps:
                for name in step.writes:
                    self.places.setdefault(name, []).append(index)
                if step.match.row.operation == "selection":
                    self._chosen.update(step.writes)
                if step.instruction.guard is not None or step.match.row.steers:
                    bound.update(step.writes)
            if not isinstance(block.end, Jump | Exit):
                bound.update((*block.end.step.reads, *block.end.step.writes, *block.read_at_end))
        self._bound = bound
        self._types = program.registers

    def candidates(self) -> Iterable[str]:
        """Integers of each thread's own that are chosen, or written within a loop, and made elsewhere."""
        steps = [step for block in self.blocks for step in block.steps]
        own = computed_from(steps, index_registers(steps))
        for name, places in self.places.items():
            if (
                len(places) > 1
                and name in own - self._bound
                and LLVM_TYPE[self._types[name]] in ("i32", "i64")
            ):
                written = set(places)
                if name in self._chosen or any(
                    name in self.live[header] and written & body and written - body
                    for header, body in self.loops.items()
                ):
                    yield name

    def web(self, name: str) -> _Web:
        """The versions of a register."""
        found = _Web()
        writes = {
            index: max(k for k, step in enumerate(self.blocks[index].steps) if name in step.writes)
            for index in self.places[name]
        }
        live = [index for index in range(len(self.blocks)) if name in self.live[index]]
        for index, last in writes.items():
            found.out[index] = index, last
        if name in self.live[0]:
            found.into[0] = found.out[0] = _START
        changed = True
        while changed:
            changed = False
            for index in live:
                ends = {found.out[one] for one in self.before[index] if one in found.out}
                if index == 0:
                    ends.add(_START)
                meeting = (index, -1)
                version = meeting if len(ends) > 1 else next(iter(ends), None)
                if version is None or found.into.get(index) in (version, meeting):
                    continue
                found.into[index] = version
                if index not in writes:
                    found.out[index] = version
                changed = True
        self._count_reads(name, found)
        self._join(name, found)
        return found

    def _count_reads(self, name: str, web: _Web) -> None:
        for index in {*web.into, *self.places[name]}:
            version = web.into.get(index, _START)
            for k, step in enumerate(self.blocks[index].steps):
                if name in step.reads:
                    web.reads[version] += 1
                if name in step.writes:
                    version = index, k
                    web.written.add(version)

    def _join(self, name: str, web: _Web) -> None:
        """Let what meets share a register, but for what is read by itself and made anew outside of loops."""
        meetings = [index for index, version in web.into.items() if version == (index, -1)]
        for index in meetings:
            for end in {web.out[one] for one in self.before[index] if one in web.out}:
                # No copy in each trip of a loop that goes on with the register, or that ends here.
                looped = any(
                    end[0] in body and (header in meetings or index not in body)
                    for header, body in self.loops.items()
                )
                if looped or not web.reads[end] or self._goes_on(name, end):
                    web.join((index, -1), end)

    def _goes_on(self, name: str, version: Version) -> bool:
        """Whether a version is none that a step makes anew."""
        index, place = version
        return place < 0 or name in self.blocks[index].steps[place].reads


def split_ranges(program: Program) -> Program:
    """The program with a register for each loop that goes on with one that is also read for itself."""
    ranges = _Ranges(program)
    webs: dict[str, _Web] = {}
    registers = dict(program.registers)
    names: dict[tuple[str, Version], str] = {}  # of the register for a group
    for name in ranges.candidates():
        web = ranges.web(name)
        groups = {web.group(one) for one in (*web.into.values(), *web.written)}
        if len(groups) < 2:
            continue
        webs[name] = web
        for group in sorted(groups):
            own = name if group == min(groups) else f"{name}.{len(registers)}"
            registers[own] = program.registers[name]
            names[name, group] = own
    if not webs:
        return program
    blocks = [_renamed(index, block, webs, names) for index, block in enumerate(program.blocks)]
    for index, steps in _copies(ranges, webs, names, registers).items():
        blocks[index] = replace(blocks[index], steps=(*blocks[index].steps, *steps))
    return program.rewritten(tuple(blocks), registers)


def _renamed(
    index: int, block: Block, webs: Mapping[str, _Web], names: Mapping[tuple[str, Version], str]
) -> Block:
    now = {name: names[name, web.group(web.into[index])] for name, web in webs.items() if index in web.into}
    steps: list[Step] = []
    for k, step in enumerate(block.steps):
        written = {name: names[name, webs[name].group((index, k))] for name in step.writes if name in webs}
        if written or not step.reads.isdisjoint(now):
            step = with_names(step, now, written)
        now |= written
        steps.append(step)
    return replace(block, steps=tuple(steps))


def _copies(
    ranges: _Ranges,
    webs: Mapping[str, _Web],
    names: Mapping[tuple[str, Version], str],
    registers: Mapping[str, str],
) -> dict[int, list[Step]]:
    """What is set where loops are entered, by the block from which they are."""
    found: dict[int, dict[tuple[str, str], Step]] = {}
    for name, web in webs.items():
        for index, version in web.into.items():
            if version != (index, -1):
                continue
            target = names[name, web.group(version)]
            for one in ranges.before[index]:
                end = web.out.get(one)
                if end is not None and (source := names[name, web.group(end)]) != target:
                    steps = (*reversed(ranges.blocks[one].all_steps), *ranges.blocks[index].all_steps)
                    number = steps[0].number if steps else 0
                    found.setdefault(one, {})[target, source] = copy_step(
                        number, registers[name], target, source
                    )
    return {index: list(steps.values()) for index, steps in found.items()}
