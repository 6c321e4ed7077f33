"""Where the commands write: records to standard output alone, files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from ..errors import ArgumentError


@contextlib.contextmanager
def words_apart(wanted: bool) -> Iterator[None]:
    """With `--json`, let what kernels, programs and their processes print go to standard error."""
    if not wanted or sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # it was closed
        yield
        return
    sys.stdout.flush()
    with contextlib.ExitStack() as undo:
        with contextlib.suppress(OSError, ValueError):  # there may be none, or no file behind it
            ours, theirs = sys.stdout.fileno(), sys.stderr.fileno()
            kept = os.dup(ours)
            undo.callback(os.close, kept)
            undo.callback(os.dup2, kept, ours)
            os.dup2(theirs, ours)
        undo.enter_context(contextlib.redirect_stdout(sys.stderr))
        yield


def write_file(text: str, path: Path) -> None:
    """Write a file, its folders made if need be, so that nobody sees a part of it; raises ArgumentError."""
    whole = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():  # /dev/stdout, a pipe
            path.write_text(text, encoding="utf-8")
            return
        whole.write_text(text, encoding="utf-8")
        whole.replace(path)
    except OSError as problem:
        raise ArgumentError(f"{path} cannot be written: {problem.strerror or problem}") from None
