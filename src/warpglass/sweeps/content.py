"""What a cell's result depends on besides its own words: the files that it is made of."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from ..errors import ArgumentError
from .cell import Subject

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_IMPORT = re.compile(r"^\s*(?:from|import)\s+([\w.]+)", re.MULTILINE)
_SOURCES = (".cu", ".cuh", ".h", ".hpp", ".inl", ".cpp", ".cc", ".cxx", ".c")


def digest(subject: Subject, folder: Path) -> str:
    """SHA-256 of all files that a subject is made of.

    The kernel's or the program's, what these include by quoted names or import from beside them, arrays in
    files, the reference, and files that are a program's arguments.
    """
    named = list(subject.program) or ([subject.file] if subject.file else [])
    if subject.program:
        named += [text for one in subject.args if _is_file(text := str(folder / one))]
    else:
        named += [str(Path(text.rpartition(":")[2])) for text in subject.args if text.endswith(".npy")]
        named += [str(folder / subject.expect.partition(":")[0])] if subject.expect else []
    whole = hashlib.sha256()
    for name in named:
        for file in _parts(Path(name), _stamp(Path(name))):
            whole.update(_of_file(file, _stamp(file)).encode())
    return whole.hexdigest()


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long a name, or one with a zero
        return False


def _stamp(path: Path) -> tuple[int, int]:
    """What changes with a file's content; many cells are made of one file, which is read once."""
    try:
        found = path.stat()
    except OSError as problem:
        raise ArgumentError(f"{path} cannot be read: {problem.strerror or problem}") from None
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=4096)
def _of_file(path: Path, _: tuple[int, int]) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as problem:
        raise ArgumentError(f"{path} cannot be read: {problem.strerror or problem}") from None


@lru_cache(maxsize=4096)
def _parts(path: Path, _: tuple[int, int]) -> tuple[Path, ...]:
    return tuple(_with_includes(path, set()))


def _with_includes(path: Path, seen: set[Path]) -> Iterator[Path]:
    """A file and those beside it that it includes; what is found elsewhere belongs to the compiler."""
    resolved = path.resolve()
    if resolved in seen:
        return
    seen.add(resolved)
    yield path
    if path.suffix not in (*_SOURCES, ".py"):
        return
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    if path.suffix == ".py":
        names = [name.replace(".", "/") + ".py" for name in _IMPORT.findall(text)]
    else:
        names = _INCLUDE.findall(text)
    for name in names:
        if (beside := path.parent / name).is_file():
            yield from _with_includes(beside, seen)
