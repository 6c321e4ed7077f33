"""Programs outside Python on our command lines: `prog.cu flags -- arguments`, `./program`, `make test`.

Belongs here: starting them, and what of a command line is theirs. What is done with their launches is the
command's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import typer

from ..programs import targets
from .time_limit import run_child, run_limited


@dataclass(frozen=True, slots=True)
class Native:
    """A program: its words from its source or executable on, flags of the compiler included."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, target: str, flags: Sequence[str] | None, words: Sequence[str] | None) -> Native:
        """The program of a command line."""
        return cls((target, *(flags or ()), *(words or ())))

    def __str__(self) -> str:
        return self.words[0]

    def run(self, model: str, timeout: float | None) -> NoReturn:
        """Run it on the virtual GPU and leave with its exit status; after `timeout` seconds it is ended."""
        if timeout is not None:
            between = () if targets.may_be_source(self.words[0]) else ("--",)
            words = ("run", "--model", model, self.words[0], *between, *self.words[1:])
            raise typer.Exit(run_limited(words, timeout, str(self)))
        from ..programs import start

        start.replace_process(start.command(self.words, model))

    def watched(self, model: str, what: str, **wanted: Any) -> tuple[int, list[Any]]:
        """Run it with its launches watched; its exit status and the records of `what` (records.Wish)."""
        from ..programs import records, start

        file = records.Records()
        try:
            program = start.command(self.words, model)
            wish = records.Wish(what, file.path, **wanted)
            environment = {**program.environment, records.VARIABLE: wish.text()}
            status = run_child(program.words, str(self), file=program.file, environment=environment)
            return status, list(file.read())
        finally:
            file.close()
