"""What shows that a long run goes on: on standard error, only if that is a terminal, gone when done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from .console import stderr_console

PATIENCE = 1.0  # seconds for which nobody needs to be told


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Say what is being done, and since when, if it takes longer than PATIENCE."""
    console = stderr_console()
    if not console.is_terminal or console.is_dumb_terminal:
        yield
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    shown = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
    shown.add_task(what, total=None)
    timer = threading.Timer(PATIENCE, shown.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        shown.stop()


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int, str], None] | None]:
    """Yield a function (done, total, what runs next) that draws the bar, None where nobody would see it."""
    console = stderr_console()
    if not console.is_terminal:
        yield None
        return
    times = (TimeElapsedColumn(), TextColumn("done,"), TimeRemainingColumn(), TextColumn("left"))
    what = TextColumn("{task.description}", markup=False)
    with Progress(
        BarColumn(), MofNCompleteColumn(), *times, what, console=console, transient=True
    ) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total, what: progress.update(task, completed=done, total=total, description=what)
