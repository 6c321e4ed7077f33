"""The C++ compiler of this machine, which builds what runs on its processor: g++, clang++ or zig's.

Belongs here: which one is taken and how it is called. nvcc asks for a program that behaves as g++ does;
`pip install ziglang` brings one along, for which a script stands in.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import ArgumentError

_NAMES = ("g++", "clang++", "c++")
CHOICE = "CXX"
_MISSING = (
    "a C++ compiler is needed for whole programs, and there is none: install g++ or clang++; to run programs "
    "that are built already, `pip install 'warpglass[compiler]'` is enough"
)


@dataclass(frozen=True, slots=True)
class HostCompiler:
    """A C++ compiler: `command` compiles and links, as g++ does."""

    command: tuple[str, ...]

    @property
    def identity(self) -> str:
        """What changes with its version: its file's place, size and time."""
        file = Path(os.path.realpath(shutil.which(self.command[0]) or self.command[0]))
        status = file.stat()
        return f"{file}:{status.st_size}:{status.st_mtime_ns}:{' '.join(self.command)}"

    def as_one_program(self, work: Path) -> str:
        """The compiler as one word, for nvcc: itself, or a script in a folder that calls it."""
        if len(self.command) == 1:
            return self.command[0]
        script = work / "g++"
        script.write_text(f'#!/bin/sh\nexec {shlex.join(self.command)} "$@"\n')
        script.chmod(0o700)
        return str(script)


@cache
def host_compiler() -> HostCompiler:
    """The compiler that $CXX names, else the first that is found. Raises ArgumentError if there is none."""
    wanted = os.environ.get(CHOICE, "").split()
    if wanted and (path := shutil.which(wanted[0])):
        return HostCompiler((path, *wanted[1:]))
    for name in _NAMES:
        if (path := shutil.which(name)) is not None:
            return HostCompiler((path,))
    if importlib.util.find_spec("ziglang") is not None:
        return HostCompiler((sys.executable, "-m", "ziglang", "c++"))
    raise ArgumentError(_MISSING)
