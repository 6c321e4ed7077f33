"""Where reports are printed: width, colours, terminal or pipe.

Belongs here: making consoles. Rich itself drops colours for NO_COLOR and for pipes; a pipe has no width,
so it gets COLUMNS or 120, which keeps every row on one line.
"""

from __future__ import annotations

import io
import os
import sys

from rich.console import Console

PIPE_WIDTH = 120


def stdout_console() -> Console:
    """Return the console for results; what the terminal's encoding lacks is replaced."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False, soft_wrap=False)
    return console if console.is_terminal else Console(highlight=False, width=_pipe_width())


def stderr_console() -> Console:
    """Return the console for progress and errors, which leave the results alone."""
    return Console(stderr=True, highlight=False)


def text_console(width: int) -> Console:
    """Return a console that collects plain text; `text_of` reads it."""
    return Console(file=io.StringIO(), width=width, highlight=False, color_system=None, force_terminal=False)


def text_of(console: Console) -> str:
    """Return what was printed to a console made by `text_console`, without trailing blanks."""
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


def _pipe_width() -> int:
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdigit() and int(columns) > 0 else PIPE_WIDTH
