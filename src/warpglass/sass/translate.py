"""What ptxas made of a kernel: machine instructions by PTX line, and what became of every memory access.

Belongs here: from PTX to a Translation, with the assembler and the readers of its file. What follows for
counters is estimate.py's. Without a GPU the assembler is nvJitLink, which knows compute capability 7.5 and
newer; for older targets there is no translation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from .. import ptx
from ..errors import CompileError
from ..program import Branch, Program, build_program, find_instructions
from ..program.flow_graph import find_loops
from ..program.layout import symbols_in
from ..ptx import tree
from ..source.compiled import Compiled
from ..source.cubin import OLDEST, cubin
from ..source.elf import Elf, read_elf, symbols
from .accesses import Access, find_accesses
from .annotate import annotate
from .choices import Choice, find_choices
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

    `starts` are the lines where functions start, by name, `splits` the lines of conditional branches,
    `calls` those of calls, and `wide` those of integers of 64 bits. `ptx` has the PTX's blocks and `loops`
    its loops, innermost first; `accesses` is what became of each memory instruction, and `choices` the
    selections that machine code anticipates with a guard, both by line.
    """

    target: str
    graph: MachineGraph
    starts: Mapping[str, int]
    splits: frozenset[int]
    calls: frozenset[int]
    wide: frozenset[int]
    ptx: tuple[PtxBlock, ...]
    loops: tuple[PtxLoop, ...]
    accesses: Mapping[int, Access]
    choices: Mapping[int, Choice]
    linking: frozenset[tuple[str, int]]  # function and offset of what only code for later linking has

    def instructions(self, line: int) -> tuple[Instruction, ...]:
        """All machine instructions that were made from a PTX line, wherever they stand."""
        return tuple(item for item in self.code if item.line == line)

    @property
    def code(self) -> tuple[Instruction, ...]:
        """All machine instructions that may be executed."""
        return tuple(item for block in self.graph.blocks for item in block.instructions)


_WIDE = frozenset(("s64", "u64", "b64"))


@lru_cache(maxsize=64)
def translate(compiled: Compiled, target: str) -> Translation | None:
    """Assemble a kernel for a target such as "sm_90"; None if the target is too old for the assembler.

    Raises CompileError if the assembler is not installed or refuses the PTX.
    """
    if capability_of(target) < OLDEST[0] * 10 + OLDEST[1]:
        return None
    module = ptx.parse_authored(compiled.ptx, compiled.name, compiled.entry)
    program = build_program(module, compiled.entry)
    text = annotate(compiled.ptx, module, compiled.entry, program.shared.offsets)
    elf = read_elf(cubin(replace(compiled, ptx=text), target))
    functions = [item for item in module.functions if not item.entry or item.name == compiled.entry]
    calls = _lines_of(functions, lambda item: item.opcode == "call")
    otherwise = _otherwise(functions)
    code = [
        (name, tuple(_at_condition(item, otherwise) for item in items))
        for name, items in _code(elf, compiled.entry, {f.name for f in functions}, capability_of(target))
    ]
    graph = build_graph(code, calls)
    ptx_blocks, loops = _ptx_graph(program)
    instructions = [item for block in graph.blocks for item in block.instructions]
    return Translation(
        target=target,
        graph=graph,
        starts={item.name: _first_line(item) for item in functions},
        splits=frozenset(
            block.end.step.instruction.line for block in program.blocks if isinstance(block.end, Branch)
        ),
        calls=calls,
        wide=_lines_of(functions, lambda item: not _WIDE.isdisjoint(item.modifiers)),
        ptx=ptx_blocks,
        loops=loops,
        accesses=find_accesses(program, instructions),
        choices=_choices(program, graph),
        linking=_linking(graph, _lines_of(functions, lambda item: _names(item, program.shared.offsets))),
    )


def capability_of(target: str) -> int:
    """The compute capability of a target, as a number such as 90; raises CompileError."""
    digits = target.removeprefix("sm_").rstrip("af")
    if not target.startswith("sm_") or not digits.isdigit():
        raise CompileError(f"target {target!r}: expected a form such as 'sm_90'")
    return int(digits)


def _code(
    elf: Elf, entry: str, functions: Collection[str], capability: int
) -> list[tuple[str, tuple[Instruction, ...]]]:
    """The decoded functions of the PTX, the kernel first; the assembler's own ones are left out.

    A function lies in a section of its own, or behind the kernel in the kernel's, named `$kernel$function`.
    """
    lines = read_lines(elf)
    found: dict[str, tuple[Instruction, ...]] = {}
    for index, section in enumerate(elf.sections):
        name = section.name.removeprefix(".text.")
        if name == section.name or name not in functions:
            continue
        code = decode(section.content, lines.get(index, {}), capability)
        inner = [symbol for symbol in symbols(elf) if symbol.section == index and symbol.name.startswith("$")]
        taken: set[int] = set()
        for symbol in inner:
            place = range(symbol.value, symbol.value + symbol.size)
            taken.update(place)
            found[symbol.name.rpartition("$")[2]] = tuple(item for item in code if item.offset in place)
        found[name] = tuple(item for item in code if item.offset not in taken)
    if entry not in found:
        raise CompileError(f"the machine code has no kernel {entry}")
    names = [entry, *(name for name in found if name != entry and name in functions)]
    return [(name, found[name]) for name in names]


def _otherwise(functions: Iterable[tree.Function]) -> Mapping[int, int]:
    """Jumps for those who do not take the conditional branch in front of them: its line by theirs."""
    found: dict[int, int] = {}
    for function in functions:
        for item, following in pairwise(function.body or ()):
            if isinstance(item, tree.Instruction) and isinstance(following, tree.Instruction):
                jumps = item.opcode == following.opcode == "bra"
                if jumps and item.guard is not None and following.guard is None:
                    found[following.line] = item.line
    return found


def _at_condition(item: Instruction, otherwise: Mapping[int, int]) -> Instruction:
    """A conditional branch or exit by the line of its condition, where it carries that of the jump behind."""
    if item.conditional and item.operation.control in ("branch", "exit") and item.line in otherwise:
        return replace(item, line=otherwise[item.line])
    return item


def _first_line(function: tree.Function) -> int:
    return next((item.line for item in function.body or () if isinstance(item, tree.Instruction)), 0)


def _lines_of(
    functions: Iterable[tree.Function], wanted: Callable[[tree.Instruction], bool]
) -> frozenset[int]:
    return frozenset(
        item.line
        for function in functions
        for item in function.body or ()
        if isinstance(item, tree.Instruction) and wanted(item)
    )


def _names(item: tree.Instruction, variables: Collection[str]) -> bool:
    return any(name in variables for name in symbols_in(item))


def _ptx_graph(program: Program) -> tuple[tuple[PtxBlock, ...], tuple[PtxLoop, ...]]:
    """The blocks of the PTX and its loops; copies of a called function's blocks count as one."""
    lines = [[step.instruction.line for step in steps] for steps in find_instructions(program.blocks)]
    node_of: dict[tuple[int, int], int] = {}
    nodes = [
        node_of.setdefault((found[0], 0) if found else (0, number), len(node_of))
        for number, found in enumerate(lines)
    ]
    successors: list[dict[int, None]] = [{} for _ in node_of]
    for node, block in zip(nodes, program.blocks, strict=True):
        targets = [nodes[target] for target in block.successors] or [OUTSIDE]
        successors[node] |= dict.fromkeys(targets)
    blocks = tuple(
        PtxBlock(line, tuple(targets)) for (line, _), targets in zip(node_of, successors, strict=True)
    )
    bodies = find_loops([block.local_successors for block in program.blocks])
    loops = {
        nodes[header]: PtxLoop(
            block=nodes[header],
            header=next(iter(lines[header]), 0),
            body=frozenset(nodes[number] for number in body),
            lines=frozenset(line for number in body for line in lines[number]),
        )
        for header, body in sorted(bodies.items(), key=lambda item: len(item[1]))
    }
    return blocks, tuple(loops.values())


def _choices(program: Program, graph: MachineGraph) -> Mapping[int, Choice]:
    """The selections of operations that stand under a guard, and only so."""
    code = [item for block in graph.blocks for item in block.instructions]
    bare = {item.line for item in code if item.guard is None}
    guarded = {item.line for item in code if item.guard is not None} - bare
    return {line: choice for line, choice in find_choices(program).items() if line in guarded}


def _linking(graph: MachineGraph, named: frozenset[int]) -> frozenset[tuple[str, int]]:
    """Instructions that a compiler that knows where variables lie does without.

    For each address of a shared variable that it makes, code for later linking moves the variable's offset
    into a register of its own and adds it to the start of shared memory; the sum is a constant otherwise.
    `named` are the lines that name a shared variable.
    """
    found: list[tuple[str, int]] = []
    for block in graph.blocks:
        for line in {item.line for item in block.instructions} & named:
            mine = [item for item in block.instructions if item.line == line]
            moves = [(block.function, item.offset) for item in mine if item.name == "UMOV"]
            sums = [(block.function, item.offset) for item in mine if item.name == "UIADD3"]
            found += sums[: len(moves) - 1] + moves[1:] if len(moves) > 1 else []
    return frozenset(found)
