"""The listing's part of the wiring: a kernel's source, PTX and machine code, each line with its origin."""

from __future__ import annotations

from .. import ptx
from ..errors import CompileError
from ..host.source_lines import lines_of
from ..ptx import tree
from ..records.listing import Listing, MachineLine, PtxLine, SourceFile
from ..sass.decode import Instruction
from ..sass.translate import Translation, translate
from ..source.compiled import Compiled
from ..source.cubin import retargeted

_AROUND = 12  # lines of a source file kept before the first and behind the last that the kernel comes from


def listing_of(compiled: Compiled, target: str) -> Listing:
    """The texts of a kernel for a target such as "sm_90"; where there is no machine code, `note` says why."""
    module = ptx.parse_authored(compiled.ptx, compiled.name, compiled.entry)
    note, machine = "", ()
    try:
        translation = translate(retargeted(compiled, target), target)
        if translation is None:
            note = f"the assembler does not know {target}"
        else:
            machine = _machine_lines(translation)
    except CompileError as problem:
        note = str(problem)
    lines = _ptx_lines(compiled, module)
    return Listing(compiled.name, target, _sources(lines), lines, machine, note)


def _ptx_lines(compiled: Compiled, module: tree.Module) -> tuple[PtxLine, ...]:
    """The lines of the kernel and of the functions beside it, without those of other kernels."""
    origin: dict[int, tuple[str, int]] = {}
    kept: set[int] = set()
    text = compiled.ptx.split("\n")
    for function in module.functions:
        if function.body is None or (function.entry and function.name != compiled.entry):
            continue
        kept.update(_extent(function, text))
        for item in function.body:
            if isinstance(item, tree.Instruction) and item.source is not None:
                origin[item.line] = (item.source.author.file, item.source.author.line)
    return tuple(
        PtxLine(number, line, *origin.get(number, ("", 0)))
        for number, line in enumerate(text, 1)
        if number in kept and line.strip() and not line.lstrip().startswith(".loc")
    )


def _extent(function: tree.Function, text: list[str]) -> range:
    """The lines of a function, from its name to the brace that closes it."""
    last = max([function.line, *(item.line for item in function.body or ())])
    while last < len(text) and not text[last - 1].startswith("}"):
        last += 1
    return range(function.line, last + 1)


def _machine_lines(translation: Translation) -> tuple[MachineLine, ...]:
    code = [(block.function, item) for block in translation.graph.blocks for item in block.instructions]
    several = len({function for function, _ in code}) > 1
    return tuple(
        MachineLine(item.offset, f"{function}: {_text(item)}" if several else _text(item), item.line)
        for function, item in code
    )


def _text(item: Instruction) -> str:
    """What is known of an instruction: guard, operation, bytes that a thread accesses, where it goes."""
    guard = "" if item.guard is None else f"@{'!' if item.negated else ''}P{item.guard} "
    width = f".{8 * item.width}" if item.width else ""
    target = "" if item.target is None else f" 0x{item.target:x}"
    return f"{guard}{item.name}{width}{target}"


def _sources(lines: tuple[PtxLine, ...]) -> tuple[SourceFile, ...]:
    """The parts of the files that the kernel comes from; a file that cannot be read is left out."""
    numbers: dict[str, list[int]] = {}
    for line in lines:
        if line.line:
            numbers.setdefault(line.file, []).append(line.line)
    found: list[SourceFile] = []
    for file, used in numbers.items():
        first = max(1, min(used) - _AROUND)
        part = lines_of(file)[first - 1 : max(used) + _AROUND]
        if part:
            found.append(SourceFile(file, part, first))
    return tuple(found)
