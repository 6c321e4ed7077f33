"""Operations whose result a `selp` drops for some threads: ptxas runs them for the others only.

Belongs here: finding the selection that an operation's result goes to, and marking selections in PTX so that
a run counts them. In `setp p; mul a; selp d, a, b, p` all threads multiply at the level of PTX; as machine
code, only those for which p holds may, under a guard. How many they are is known at the selection alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..program import Program, Step
from ..ptx import tree
from ..source.compiled import Compiled

MARK = "%chosen"  # the register that marking instructions write


@dataclass(frozen=True, slots=True)
class Choice:
    """A selection, by its line: the predicate register, and what it must be for the operation to matter."""

    line: int
    predicate: str
    wanted: bool


def find_choices(program: Program) -> Mapping[int, Choice]:
    """Return the selection that decides about each line whose results nothing else uses."""
    steps = [step for block in program.blocks for step in block.steps]
    users: dict[str, list[Step]] = {}
    for block in program.blocks:
        for step in block.steps:
            for register in step.reads:
                users.setdefault(register, []).append(step)
        if block.splits is not None:
            users.setdefault(block.splits, []).extend(block.steps[:1])  # a use that is no selection
    found: dict[int, Choice] = {}
    for step in reversed(steps):  # a result is used behind the operation, but for loops
        if len(step.writes) != 1 or step.instruction.guard is not None:
            continue
        (register,) = step.writes
        choices = {_decides(user, register, found) for user in users.get(register, ())}
        if len(choices) == 1 and (choice := choices.pop()) is not None:
            found[step.instruction.line] = choice
    return found


def _decides(user: Step, register: str, found: Mapping[int, Choice]) -> Choice | None:
    """The selection for which a user wants a register; None if it wants it always."""
    if user.match.row.operation != "selection":
        return found.get(user.instruction.line)
    _, first, second, predicate = user.instruction.operands
    values = [isinstance(operand, tree.Register) and operand.name == register for operand in (first, second)]
    if sum(values) != 1 or not isinstance(predicate, tree.Register) or predicate.name == register:
        return None
    return Choice(user.instruction.line, predicate.name, values[0])


def mark_choices(compiled: Compiled, choices: Mapping[int, Choice]) -> Compiled:
    """PTX in which each of these selections is followed by an instruction under its predicate.

    The instruction stands in the selection's own line, so lines keep their numbers; counts.by_line knows it.
    """
    lines = compiled.ptx.split("\n")
    for choice in {choice.line: choice for choice in choices.values()}.values():
        text = lines[choice.line - 1]
        name = choice.predicate
        if text.rstrip().endswith(";") and "@" not in name:  # not in a copy of a called function
            lines[choice.line - 1] = f"{text} {{ .reg .b32 {MARK}; @{name} mov.b32 {MARK}, 0; }}"
    return replace(compiled, ptx="\n".join(lines))
