"""Make PTX independent of where its source stood, and put it back where the source stands now.

Belongs here: the rewriting of `.file` and `.loc`. Cached and shipped PTX is keyed by content, so the file may
have moved since, and lines may have been added above a Python function. Two kinds of things move: roots
(a file or folder; only its path changes, lines stay) and pieces (a run of lines in a file, one per Python
function). Detached text names a root `@N` in `.file`, and a line in a piece `@N:offset` in `.loc`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FILE = re.compile(r'^(\s*\.file\s+(\d+)\s+)"([^"\n]*)"', re.MULTILINE)
_LOC = re.compile(r"(\.loc\s+|\binlined_at\s+)(\d+)(\s+)(\d+)")
_DETACHED_LOC = re.compile(r"(\.loc\s+|\binlined_at\s+)@(\d+):(-|\d+)")


@dataclass(frozen=True, slots=True)
class Piece:
    """`count` lines of `file` from line `first` (1-based) on."""

    file: str
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the source of a kernel stands: `roots` are paths of files and folders, most specific first."""

    roots: tuple[str, ...] = ()
    pieces: tuple[Piece, ...] = ()

    @property
    def folder(self) -> Path:
        """Where the most specific file is."""
        files = *self.roots, *(piece.file for piece in self.pieces)
        return Path(files[0] if files else "").parent


def detach_path(path: str, layout: Layout) -> str:
    """Return `path` with its root, if it has one, replaced by `@N`."""
    for index, root in enumerate(layout.roots):
        if path == root or path.startswith(root + "/"):
            return f"@{index}{path[len(root) :]}"
    return path


def attach_path(path: str, layout: Layout) -> str:
    """Undo detach_path with the roots of today."""
    match = re.match(r"@(\d+)(/.*)?$", path)
    return layout.roots[int(match[1])] + (match[2] or "") if match else path


def detach(ptx: str, layout: Layout) -> str:
    """Return `ptx` without any trace of where its source stands."""
    files = {match[2]: match[3] for match in _FILE.finditer(ptx)}
    moving = {piece.file for piece in layout.pieces}

    def encode(match: re.Match[str]) -> str:
        file, line = files.get(match[2]), int(match[4])
        for index, piece in enumerate(layout.pieces):
            if piece.file == file and (line == 0 or piece.first <= line < piece.first + piece.count):
                return f"{match[1]}@{index}:{line - piece.first if line else '-'}"
        return match[0]

    ptx = _LOC.sub(encode, ptx)
    kept = {match[2] for match in _LOC.finditer(ptx)}
    return _FILE.sub(
        lambda m: "" if m[3] in moving and m[2] not in kept else f'{m[1]}"{detach_path(m[3], layout)}"', ptx
    )


def attach(ptx: str, layout: Layout) -> str:
    """Undo detach() with the layout of today."""
    numbers = {int(match[2]) for match in _FILE.finditer(ptx)}
    files: dict[str, int] = {}

    def decode(match: re.Match[str]) -> str:
        piece = layout.pieces[int(match[2])]
        number = files.setdefault(piece.file, max(numbers, default=0) + 1 + len(files))
        return f"{match[1]}{number} {0 if match[3] == '-' else piece.first + int(match[3])}"

    ptx = _DETACHED_LOC.sub(decode, ptx)
    ptx = _FILE.sub(lambda m: f'{m[1]}"{attach_path(m[3], layout)}"', ptx)
    return ptx + "".join(f'\n\t.file\t{number} "{file}"\n' for file, number in files.items())
