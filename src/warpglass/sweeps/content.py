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


def digest(subject: Subject, folder: Path) -> str:
    """SHA-256 of the kernel's file, what it includes by quoted names, arrays in files and the reference."""
    named = [subject.file] if subject.file else []
    named += [str(Path(text.rpartition(":")[2])) for text in subject.args if text.endswith(".npy")]
    named += [str(folder / subject.expect.partition(":")[0])] if subject.expect else []
    whole = hashlib.sha256()
    for name in named:
        for file in _parts(Path(name), _stamp(Path(name))):
            whole.update(_of_file(file, _stamp(file)).encode())
    return whole.hexdigest()


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
    if path.suffix in (".cu", ".cuh", ".h", ".hpp", ".inl"):
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return
        for name in _INCLUDE.findall(text):
            if (beside := path.parent / name).is_file():
                yield from _with_includes(beside, seen)
