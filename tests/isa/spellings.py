"""Spellings of instructions: a row's modifiers in any order, and which of them ptxas takes.

ptxas names every line that it refuses, so thousands of spellings are asked in one run.
"""

from __future__ import annotations

import itertools
import random
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.levels import FULL
from warpglass.isa import Row
from warpglass.isa.notation import OperandForm, Pattern
from warpglass.isa.types import LLVM_TYPE
from warpglass.source.elf import read_elf

_MOST = 24 if FULL else 8  # permutations of one choice of modifiers
_CHOICES = 12 if FULL else 4  # choices of modifiers of one row
_REFUSAL = re.compile(r"line (\d+); (?:error|fatal) *: (.*)")
_CONSTANTS = {"lop3": ("table",), "cp": ("n",), "setmaxnreg": ("n",)}
_REGISTERS = {"i1": "%p", "i8": "%rb", "i16": "%rs", "i32": "%r", "i64": "%rd", "i128": "%rq"}
_REGISTERS |= {"float": "%f", "double": "%fd"}
_HEADER = """.version {}
.target {}
.address_size 64
.visible .entry k()
{{
.reg .pred %p<99>; .reg .b8 %rb<99>; .reg .b16 %rs<99>; .reg .b32 %r<99>; .reg .b64 %rd<99>;
.reg .f32 %f<99>; .reg .f64 %fd<99>;{}
target:
table: .branchtargets target;
"""
_FIRST = _HEADER.count("\n") + 1


def choices(row: Row, rng: random.Random) -> Iterator[tuple[str, ...]]:
    """Modifiers of a row in its own order, the first time all of them."""
    places = row.pattern.modifiers
    widest = max((len(place.choices) for place in places), default=1)
    seen: set[tuple[str, ...]] = set()
    for turn in range(max(_CHOICES, widest) if FULL else _CHOICES):
        words: list[str] = []
        for place in places:
            if place.choices and (not place.optional or turn == 0 or rng.random() < 0.6):
                words.append(
                    rng.choice([one for one in place.choices if place.name != "size" or one != "u32"])
                )
        if tuple(words) not in seen:
            seen.add(tuple(words))
            yield tuple(words)


def permutations(words: Sequence[str], rng: random.Random) -> list[tuple[str, ...]]:
    """Other orders of modifiers: all of them, or as many as are enough."""
    if len(words) <= (4 if FULL else 3):
        found = set(itertools.permutations(words))
    else:
        found = {tuple(rng.sample(words, len(words))) for _ in range(_MOST // 2)}
        found |= {tuple(_moved(words, rng)) for _ in range(_MOST // 2)}
    return sorted(found - {tuple(words)})


def _moved(words: Sequence[str], rng: random.Random) -> list[str]:
    """One modifier elsewhere, the others in their order."""
    left = list(words)
    word = left.pop(rng.randrange(len(left)))
    left.insert(rng.randrange(len(left) + 1), word)
    return left


def operands(pattern: Pattern, words: tuple[str, ...]) -> str | None:
    """Operands for a row with some of its modifiers; None if the words are none of the row's."""
    values = pattern.match_modifiers(words)
    if values is None:
        return None
    return ", ".join(_operand(pattern, form, values, k) for k, form in enumerate(pattern.operands))


def _operand(pattern: Pattern, form: OperandForm, values: dict[str, str], number: int) -> str:
    if form.literal is not None:
        return str(form.literal)
    if form.address:
        return f"[%rd{90 + number}]"
    if form.name == "target" or (form.name == "table" and pattern.opcode == "brx"):
        return form.name
    type_ = pattern.type_of(form, values)
    if form.type == "part":
        return _vector("b" + str(int(type_[1:]) // 2), 2, number)
    count = form.count or {"v2": 2, "v4": 4, "v8": 8}.get(values.get("vec", ""), 0)
    if form.vector and count:
        return _vector(type_, count, number)
    if form.name in _CONSTANTS.get(pattern.opcode, ()):
        return "24"
    name = register(type_, number)
    if form.selector and not form.selector.optional:
        name += f".{form.selector.choices[0]}"
    return f"{name}|{register('pred', number + 40)}" if form.second else name


def _vector(type_: str, count: int, number: int) -> str:
    return "{" + ", ".join(register(type_, 8 * number + k) for k in range(count)) + "}"


def register(type_: str, number: int) -> str:
    """A register for an operand of a type."""
    return f"{_REGISTERS.get(LLVM_TYPE.get(type_, 'i32'), '%r')}{number}"


def write_module(lines: Sequence[str], target: tuple[str, str]) -> str:
    """A module with a kernel of some instructions; `target` is a version and a GPU."""
    wide = ".reg .b128 %rq<99>;" if any("%rq" in line for line in lines) else ""  # no old version has them
    return _HEADER.format(*target, wide) + "\n".join(lines) + "\nret;\n}\n"


def ask(
    ptxas: Path, lines: Iterable[str], folder: Path, target: tuple[str, str]
) -> tuple[list[str | None], bytes]:
    """What ptxas says against each of some instructions, None where it takes them; and the machine code."""
    given = list(lines)
    answers: list[str | None] = [None] * len(given)
    left = list(range(len(given)))
    while True:
        source, result = folder / "spellings.ptx", folder / "spellings.cubin"
        source.write_text(write_module([given[k] for k in left], target), encoding="utf-8")
        command = [ptxas, "-arch", target[1], "-O0", source, "-o", result]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode == 0:
            section = read_elf(result.read_bytes()).section(".text.k")
            return answers, section.content if section else b""
        said = [(int(line) - _FIRST, text) for line, text in _REFUSAL.findall(run.stderr)]
        refused = {position: text for position, text in reversed(said) if 0 <= position < len(left)}
        assert refused, run.stderr
        for position, text in refused.items():
            answers[left[position]] = text
        # It stops at what it cannot even read, so what is left is asked again.
        left = [number for position, number in enumerate(left) if position not in refused]
