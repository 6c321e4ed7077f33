"""What ptxas made of a kernel: machine instructions by PTX line, and what became of every memory access.

Belongs here: from PTX to a Translation, with the assembler and the readers of its file. What follows for
counters is estimate.py's. Without a GPU the assembler is nvJitLink, which knows compute capability 7.5 and
newer; for older targets there is no translation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from .. import ptx
from ..errors import CompileError
from ..program import Barrier, Block, Branch, Program, Switch, Trap, build_program
from ..program.blocks import find_loops, post_order
from ..program.layout import symbols_in
from ..ptx import tree
from ..source.compiled import Compiled
from ..source.cubin import OLDEST, cubin
from ..source.elf import Elf, read_elf
from .accesses import Access, find_accesses
from .annotate import annotate
from .conservation import OUTSIDE
from .decode import Instruction, decode
from .graph import MachineGraph, build_graph
from .lines import read_lines


@dataclass(frozen=True, slots=True)
class PtxLoop:
    """A loop of the PTX: its first block and that one's first line, all its blocks and all its lines."""

    block: int
    header: int
    body: frozenset[int]
    lines: frozenset[int]


@dataclass(frozen=True, slots=True)
class PtxBlock:
    """A block of the PTX: a line that is executed as often as it (0 if none is), and what may follow it."""

    line: int
    successors: tuple[int, ...]


@dataclass(frozen=True)
class Translation:
    """The machine code of one kernel on one target, seen from its PTX.

    `first` is the line of the kernel's first instruction. `splits` are the lines of conditional branches,
    `ptx` the PTX's blocks and `loops` its loops, innermost first, and `accesses` what became of each memory
    instruction, by line.
    """

    target: str
    first: int
    graph: MachineGraph
    splits: frozenset[int]
    ptx: tuple[PtxBlock, ...]
    loops: tuple[PtxLoop, ...]
    accesses: Mapping[int, Access]
    linking: frozenset[int]  # offsets of instructions that only code for later linking has

    def instructions(self, line: int) -> tuple[Instruction, ...]:
        """All machine instructions that were made from a PTX line, wherever they stand."""
        return tuple(item for item in self.code if item.line == line)

    @property
    def code(self) -> tuple[Instruction, ...]:
        """All machine instructions that may be executed."""
        return tuple(item for block in self.graph.blocks for item in block.instructions)


@lru_cache(maxsize=64)
def translate(compiled: Compiled, target: str) -> Translation | None:
    """Assemble a kernel for a target such as "sm_90"; None if the target is too old for the assembler.

    Raises CompileError if the assembler is not installed or refuses the PTX.
    """
    if capability_of(target) < OLDEST[0] * 10 + OLDEST[1]:
        return None
    module = ptx.parse(compiled.ptx, compiled.name)
    program = build_program(module, compiled.entry)
    text = annotate(compiled.ptx, module, compiled.entry, program.shared.offsets)
    elf = read_elf(cubin(replace(compiled, ptx=text), target))
    own = _lines_of_calls(module)
    functions = [compiled.entry, *(item.name for item in module.functions if not item.entry)]
    code = _code(elf, functions, capability_of(target))
    graph = build_graph(code, own.__contains__)
    instructions = [item for block in graph.blocks for item in block.instructions]
    return Translation(
        target=target,
        first=next(iter(_lines(program.blocks[0])), 0),
        graph=graph,
        splits=frozenset(
            block.end.step.instruction.line for block in program.blocks if isinstance(block.end, Branch)
        ),
        ptx=_ptx_blocks(program),
        loops=_ptx_loops(program),
        accesses=find_accesses(program, instructions),
        linking=_linking(program, module, graph),
    )


def capability_of(target: str) -> int:
    """The compute capability of a target, as a number such as 90; raises CompileError."""
    digits = target.removeprefix("sm_").rstrip("af")
    if not target.startswith("sm_") or not digits.isdigit():
        raise CompileError(f"target {target!r}: expected a form such as 'sm_90'")
    return int(digits)


def _code(elf: Elf, functions: Sequence[str], capability: int) -> list[tuple[str, tuple[Instruction, ...]]]:
    """The decoded functions of the module that the file has; the assembler's own ones are left out."""
    lines = read_lines(elf)
    wanted = {f".text.{name}": name for name in functions}
    found = {
        wanted[section.name]: decode(section.content, lines.get(index, {}), capability)
        for index, section in enumerate(elf.sections)
        if section.name in wanted
    }
    if functions[0] not in found:
        raise CompileError(f"the machine code has no kernel {functions[0]}")
    return [(name, found[name]) for name in functions if name in found]


def _lines_of_calls(module: tree.Module) -> set[int]:
    return {
        item.line
        for function in module.functions
        for item in function.body or ()
        if isinstance(item, tree.Instruction) and item.opcode == "call"
    }


def _lines(block: Block) -> list[int]:
    """The lines of a block's instructions, the one that ends it included."""
    found = [step.instruction.line for step in block.steps]
    match block.end:
        case Branch(step=step) | Barrier(step=step) | Switch(step=step) | Trap(step=step):
            return [*found, step.instruction.line]
        case _:
            return found


def _ptx_blocks(program: Program) -> tuple[PtxBlock, ...]:
    seen = Counter(line for block in program.blocks for line in set(_lines(block)))
    return tuple(
        PtxBlock(next((line for line in _lines(block) if seen[line] == 1), 0), block.successors or (OUTSIDE,))
        for block in program.blocks
    )


def _ptx_loops(program: Program) -> tuple[PtxLoop, ...]:
    blocks = program.blocks
    successors = [block.local_successors for block in blocks]
    bodies = find_loops(successors, post_order(successors, 0)[::-1])
    found: list[PtxLoop] = []
    for header, body in sorted(bodies.items(), key=lambda item: len(item[1])):
        lines = frozenset(line for node in body for line in _lines(blocks[node]))
        start = next(iter(_lines(blocks[header])), min(lines, default=0))
        found.append(PtxLoop(header, start, frozenset(body), lines))
    return tuple(found)


def _linking(program: Program, module: tree.Module, graph: MachineGraph) -> frozenset[int]:
    """Instructions that a compiler that knows where variables lie does without.

    For each address of a shared variable that it makes, code for later linking moves the variable's offset
    into a register of its own and adds it to the start of shared memory; the sum is a constant otherwise.
    """
    named = _lines_naming(module, set(program.shared.offsets))
    found: list[int] = []
    for block in graph.blocks:
        for line in {item.line for item in block.instructions} & named:
            mine = [item for item in block.instructions if item.line == line]
            moves = [item.offset for item in mine if item.name == "UMOV"]
            sums = [item.offset for item in mine if item.name == "UIADD3"]
            found += sums[: len(moves) - 1] + moves[1:] if len(moves) > 1 else []
    return frozenset(found)


def _lines_naming(module: tree.Module, names: set[str]) -> set[int]:
    return {
        item.line
        for function in module.functions
        for item in function.body or ()
        if isinstance(item, tree.Instruction) and not names.isdisjoint(symbols_in(item))
    }
