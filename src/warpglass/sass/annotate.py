"""PTX rewritten so that its machine code tells which PTX line every instruction was made from.

Belongs here: text of PTX to text of PTX. Every instruction gets a `.loc` with its own line number, and
whatever debugging information there was goes. Other kernels of the module go too, which saves time; lines
keep their numbers. Code generation does not depend on any of this.

It does depend on where shared and constant variables lie: the assembler as a library compiles for later
linking, and merges neighbouring accesses only as far as alignments are known, while the GPU's driver and nvcc
know the addresses. So every variable is given the alignment that its place has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..program.layout import element_size, variable_size
from ..ptx import tree

FILE = "kernel.ptx"
LARGEST_ALIGNMENT = 1024  # of the start of shared memory

_DROPPED_LINE = re.compile(r"^[ \t]*\.(?:loc|file)\b[^\n]*", re.MULTILINE)
_DEBUG_SECTION = re.compile(r"\.section\s+\.debug_\w+\s*\{.*?\}", re.DOTALL)
# What braces may hide in: comments and the format strings of assertions.
_OPAQUE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", re.DOTALL)


def annotate(text: str, module: tree.Module, entry: str, offsets: Mapping[str, int]) -> str:
    """Return PTX of which the machine code names the lines of `text`, with no kernel but `entry`.

    `offsets` are the places of the entry's shared variables.
    """
    text = _blank(_blank(text, _DEBUG_SECTION), _DROPPED_LINE)
    others = {function.line for function in module.functions if function.entry and function.name != entry}
    text = _without_functions(text, sorted(others))
    lines = text.split("\n")
    for declaration in _alignments(module, entry, offsets):
        row = declaration.line - 1
        lines[row] = declaration.rewrite(lines[row])
    for number in _instruction_lines(module, entry):
        if not _continues_statement(lines, number - 1):
            lines[number - 1] = f".loc 1 {number} 0\n{lines[number - 1]}"
    return "\n".join(lines) + f'\n.file 1 "{FILE}"\n'


def _blank(text: str, pattern: re.Pattern[str]) -> str:
    """Take matches out but keep their line ends."""
    return pattern.sub(lambda match: "\n" * match[0].count("\n"), text)


def _without_functions(text: str, lines: list[int]) -> str:
    """Take out the functions that start in these lines."""
    if not lines:
        return text
    plain = _OPAQUE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    pieces: list[str] = []
    at = 0
    for line in lines:
        start = starts[line - 1]
        end = _closing_brace(plain, start)
        pieces += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end
    return "".join(pieces) + text[at:]


def _closing_brace(plain: str, start: int) -> int:
    """The place behind the brace that closes the first one from `start` on."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(plain, start):
        depth += 1 if match[0] == "{" else -1
        if not depth:
            return match.end()
    return len(plain)


def _instruction_lines(module: tree.Module, entry: str) -> list[int]:
    kept = [function for function in module.functions if not function.entry or function.name == entry]
    return sorted(
        {item.line for function in kept for item in function.body or () if isinstance(item, tree.Instruction)}
    )


def _continues_statement(lines: list[str], row: int) -> bool:
    """Whether the line begins within a statement, where no directive may stand."""
    for before in reversed(lines[:row]):
        bare = _OPAQUE.sub(" ", before).strip()
        if bare:
            return bare[-1] not in ";{}:" and not bare.startswith(".")
    return False


@dataclass(frozen=True, slots=True)
class _Alignment:
    """A variable's declaration and the alignment that its place has."""

    line: int
    space: str
    bytes: int

    def rewrite(self, text: str) -> str:
        """The declaration with this alignment."""
        return re.sub(
            rf"\.{self.space}(\s+\.align\s+\d+)?", f".{self.space} .align {self.bytes}", text, count=1
        )


def _alignments(module: tree.Module, entry: str, offsets: Mapping[str, int]) -> Iterator[_Alignment]:
    """Alignments that are larger than the declared ones."""
    functions = [function for function in module.functions if not function.entry or function.name == entry]
    shared = [*module.variables, *(variable for function in functions for variable in function.variables)]
    places = {variable.name: offsets[variable.name] for variable in shared if variable.name in offsets}
    end = 0
    for variable in module.variables:  # constants lie in the order of their declarations
        if variable.space == "const":
            align = variable.align or element_size(variable)
            places[variable.name] = -(-end // align) * align
            end = places[variable.name] + variable_size(variable)
    for variable in shared:
        if variable.space not in ("shared", "const") or variable.name not in places or not variable.line:
            continue
        offset = places[variable.name]
        align = min(offset & -offset or LARGEST_ALIGNMENT, LARGEST_ALIGNMENT)
        if align > (variable.align or element_size(variable)):
            yield _Alignment(variable.line, variable.space, align)
