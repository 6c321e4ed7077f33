"""One cell of a sweep: a launch, or a rung, at one point of the grid, and what is asked of it.

Plain data that travels to other processes and machines. A cell's key says what its result depends on: two
cells with one key have the same result, whatever they are called and wherever they run.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import __version__
from .expressions import Value

ACTIONS = ("time", "counters", "check")


@dataclass(frozen=True)
class Subject:
    """What is done: a launch of a file's kernel, a ladder's rung with its options, or a whole program.

    Of a program `program` has its files, `flags` go to the compiler and `args` to the program itself.
    """

    file: str = ""
    kernel: str = ""
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    shared: int = 0  # dynamic shared memory, bytes
    args: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    expect: str = ""  # FILE.py:FUNCTION that makes the expected arrays; what a program must print
    tolerance: float = 0.0  # largest relative difference from them; 0: that of the element's type
    ladder: str = ""
    rung: str = ""
    options: tuple[tuple[str, Any], ...] = ()
    program: tuple[str, ...] = ()
    folder: str = ""  # that a program runs in
    numbers: tuple[tuple[str, str], ...] = ()  # what to read from a program's output: names and patterns


@dataclass(frozen=True)
class Cell:
    """A subject at one point of the axes. `content` is a digest of the files that it is made of."""

    name: str
    axes: tuple[tuple[str, Value], ...]
    subject: Subject
    model: str
    do: tuple[str, ...]
    repeat: int
    timeout: float
    metrics: tuple[str, ...]
    content: str

    @property
    def key(self) -> str:
        """SHA-256 of everything but the name and the names of axes."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        fields = asdict(self)
        del fields["name"], fields["axes"]
        subject = fields["subject"]
        del subject["file"], subject["folder"]  # its content counts, not its place
        subject["program"] = [Path(one).name for one in subject["program"]]
        for name in ("program", "numbers"):
            if not subject[name]:  # so that a kernel's key is what it was before there were programs
                del subject[name]
        text = json.dumps({**fields, "version": __version__}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def __str__(self) -> str:
        axes = ", ".join(f"{name}={value}" for name, value in self.axes)
        return f"{self.name} ({axes})" if axes else self.name
