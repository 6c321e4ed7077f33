"""The lines of source files, and of what has no file: cells of a notebook, text at a prompt."""

from __future__ import annotations

import linecache
import stat
from pathlib import Path

TEXT_FILE = "<cuda>"  # the file name of CUDA C++ that has none
_MOST = 64 << 20  # bytes


def keep_text(text: str) -> None:
    """Let CUDA C++ that has no file stand under TEXT_FILE, as Python keeps a notebook's cells."""
    linecache.cache[TEXT_FILE] = len(text), None, text.splitlines(keepends=True), TEXT_FILE


def keep_lines(file: str, text: str) -> None:
    """Let what a file held that may be there no more stand under its name."""
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file


def is_python(file: str) -> bool:
    """Whether what stands under a name is Python: files, notebooks, and their cells, which have no file."""
    return file != TEXT_FILE and file.endswith((".py", ".ipynb", ">"))


def lines_of(file: str) -> tuple[str, ...]:
    """The lines of a file, or what Python keeps under its name; () if there is neither.

    Names may come from PTX of strangers: what is no plain file, or larger than any source, is not read.
    """
    try:
        about = Path(file).stat()
        if not stat.S_ISREG(about.st_mode) or about.st_size > _MOST:
            return ()
        return tuple(Path(file).read_text(encoding="utf-8", errors="replace").splitlines())
    except (OSError, ValueError):
        return tuple(line.rstrip("\r\n") for line in linecache.getlines(file))
