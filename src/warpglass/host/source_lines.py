"""The lines of source files, and of what has no file: cells of a notebook, text at a prompt."""

from __future__ import annotations

import linecache
from pathlib import Path


def lines_of(file: str) -> tuple[str, ...]:
    """The lines of a file, or what Python keeps under its name; () if there is neither."""
    try:
        return tuple(Path(file).read_text(encoding="utf-8", errors="replace").splitlines())
    except (OSError, ValueError):
        return tuple(line.rstrip("\r\n") for line in linecache.getlines(file))
