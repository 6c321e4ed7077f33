"""LADDER:RUNG where a command takes FILE:KERNEL: a rung is run as a program of its own.

Belongs here: telling a rung from a file, and the program that it is to run, check, profile and explain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import ArgumentError
from .script import Program, is_program

if TYPE_CHECKING:
    from ..lab.rungs import RungTarget


@dataclass(frozen=True, slots=True)
class RungProgram:
    """A rung at its ladder's small size, as `Program` is a script."""

    target: RungTarget
    model: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return str(self.target)

    def run(self) -> int:
        """Run the rung; 0, whether its result is right or not: `bench` judges it."""
        from ..lab.rungs import run_rung
        from ..report.progress import waiting

        with waiting(f"Running {self}"):
            run_rung(self.target, self.model)
        return 0


AnyProgram = Program | RungProgram


def names_program(target: str | None, module: str | None) -> bool:
    """Whether a command line names a whole program or a rung; ArgumentError if it names nothing."""
    return (module is None and target is not None and names_rung(target)) or is_program(target, module)


def names_rung(target: str) -> bool:
    """Whether a target names a rung of a ladder."""
    if ":" not in target:
        return False
    from ..lab.rungs import is_rung

    return is_rung(target)


def program_of(target: str | None, words: Sequence[str] | None, module: str | None, model: str) -> AnyProgram:
    """The program or rung of a command line; raises ArgumentError for a rung that there is not."""
    if module is not None or target is None or not names_rung(target):
        return Program.of(target, words, module)
    if words:
        raise ArgumentError(f"{words[0]!r}: a rung makes its own arguments")
    from ..lab.rungs import parse_rung

    return RungProgram(parse_rung(target), model)
