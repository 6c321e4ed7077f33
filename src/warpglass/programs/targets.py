"""Which targets of a command line are whole programs: sources with a main function, and executables.

It imports nothing heavy: every command line is looked at.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c++", ".c")
_OTHERS = (".cuh", ".ptx", ".py", ".toml", ".json")
_NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
# A definition, whatever its type is called; a parameter may hold brackets, as a pointer to a function does.
_MAIN = re.compile(
    r"(?:^|[\s;}])main\s*\((?:[^;{}()]|\([^;{}()]*\))*\)\s*(?:noexcept\s*)?(?:->\s*[\w:]+\s*)?(?:try\s*)?\{"
)


def may_be_source(target: str) -> bool:
    """Whether a target is named as the source of a program is."""
    return Path(target).suffix.lower() in SOURCES


def is_source(target: str) -> bool:
    """Whether a target is the source of a program: a .cu file with a main function."""
    path = Path(target)
    if path.suffix.lower() not in SOURCES or not path.is_file():
        return False
    text = path.read_text("utf-8", "surrogateescape")
    return path.suffix.lower() != ".cu" or _MAIN.search(_NOISE.sub(" ", text)) is not None


def is_executable(target: str) -> bool:
    """Whether a target is an executable file, or the name of one in the folders of $PATH."""
    if Path(target).suffix.lower() in (*SOURCES, *_OTHERS) or ":" in target:
        return False
    return found(target) is not None


def found(target: str) -> str | None:
    """The file of an executable that a target names; None if there is none."""
    path = Path(target)
    if path.is_file() and os.access(path, os.X_OK):
        return str(path)
    return None if os.sep in target else shutil.which(target)
