"""The progress bar of a long run: on standard error, only if that is a terminal, gone when done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .console import stderr_console


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int, str], None] | None]:
    """Yield a function (done, total, what runs next) that draws the bar, None where nobody would see it."""
    console = stderr_console()
    if not console.is_terminal:
        yield None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total, what: progress.update(task, completed=done, total=total, description=what)
