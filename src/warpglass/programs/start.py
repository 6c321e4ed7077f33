"""Starting programs on the virtual GPU: what is run, under which name and with which variables.

Belongs here: the step from the words of a command line to a command and its environment. The process finds
the GPU by itself (bridge/), as do all that it starts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from .. import devices
from ..errors import ArgumentError
from ..numba_device import hook
from . import build, command_line, targets
from .bridge.library import environment


@dataclass(frozen=True, slots=True)
class Command:
    """A program to start: its file, its command line (with its own name first) and its environment."""

    file: Path
    words: tuple[str, ...]
    environment: Mapping[str, str]


def command(words: Sequence[str], model: str) -> Command:
    """What to start for `prog.cu flags -- arguments` or `./program arguments`, built if it is source.

    Raises ArgumentError where it cannot be built or started here, and CompileError. This process is not to
    find the GPU by it.
    """
    target = words[0]
    hook.explain_simulator()
    around = hook.variables(model, os.environ)
    if targets.may_be_source(target):
        wanted, arguments = command_line.read(words, devices.get(model).capability)
        return Command(build.executable(wanted), (str(wanted.name), *arguments), environment(around))
    path = targets.found(target)
    if path is None:
        raise ArgumentError(f"no program {target}")
    return Command(Path(path), tuple(words), environment(around))


def script(words: Sequence[str], model: str) -> Command:
    """What to start for `script.py arguments`: this Python, told of the GPU."""
    variables = hook.variables(model, os.environ)
    return Command(Path(sys.executable), (sys.executable, *words), variables)


def replace_process(program: Command) -> NoReturn:
    """Go on as the program, in this process, which is no longer ours. Raises ArgumentError if that fails."""
    try:
        os.execve(program.file, program.words, program.environment)
    except OSError as problem:
        raise ArgumentError(f"{program.words[0]} cannot be run: {problem.strerror}") from None
