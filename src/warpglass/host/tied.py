"""Running other programs that end with this process, whatever ends it, and all that they start.

A program between the two (tied_child.py) watches a pipe that only this process holds open.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .tied_child import NOT_STARTED

_CHILD = str(Path(__file__).with_name("tied_child.py"))
_LINGERING = 1.0  # seconds that a program's other processes may hold its output after its end


@contextmanager
def tied(
    command: Sequence[str], scratch: Path | None = None, file: Path | None = None, **options: Any
) -> Iterator[subprocess.Popen[Any]]:
    """A program without input, its output in pipes; it and all it started end with the context.

    `scratch`, a folder, is deleted then, too, if that is not by the end of this process's own code. `file` is
    what is run if that is not the command's first word; other options are Popen's. The status of a program
    that a signal ended is that of shells, 128 and the signal's number. Raises OSError if this Python cannot
    be started.
    """
    between = [sys.executable, "-I", "-S", _CHILD, str(scratch or ""), str(file or "")]
    if not sys.executable:
        between, options = [], {**options, "executable": file}
    theirs, ours = os.pipe()  # neither is inherited by what is started otherwise
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    try:
        # In a session of its own, so that what ends this process's group lets it do its work.
        with subprocess.Popen(
            [*between, *command], stdin=theirs, start_new_session=True, **options
        ) as process:
            os.close(theirs)
            theirs = -1
            try:
                yield process
            finally:
                os.close(ours)  # which ends it all
                ours = -1
                if not between:
                    process.kill()
    finally:
        for end in (theirs, ours):
            if end >= 0:
                os.close(end)


def _done(command: Sequence[str], status: int, output: str, errors: str) -> subprocess.CompletedProcess[str]:
    if sys.executable and status == NOT_STARTED and errors.isdigit():
        raise OSError(int(errors), os.strerror(int(errors)), command[0])
    return subprocess.CompletedProcess(command, status, output, errors)


def run_tied(
    command: Sequence[str],
    *,
    timeout: float | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    scratch: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program without input; its output is captured as text.

    `timeout` is in seconds. `scratch`, a folder of this process, is deleted if this process ends meanwhile.
    Raises OSError if the program cannot be started, subprocess.TimeoutExpired if it was ended for its time.
    """
    with tied(command, scratch, text=True, errors="replace", env=env, cwd=cwd) as process:
        output, errors = process.communicate(timeout=timeout)
    return _done(command, process.returncode, output, errors)


def run_bounded(
    command: Sequence[str],
    *,
    keep: int,
    timeout: float,
    file: Path | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    scratch: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program without input as run_tied does, however much it prints: the last `keep` bytes are kept.

    `file` is what is run if that is not the command's first word. The program has ended when its first
    process has, even if others still hold its output.
    """
    with tied(command, scratch, file, env=env, cwd=cwd) as process:
        tails = [_Tail(stream, keep) for stream in (process.stdout, process.stderr)]
        process.wait(timeout)
        output, errors = (tail.text() for tail in tails)
    return _done(command, process.returncode, output, errors)


class _Tail:
    """The end of what comes through a pipe, read by a thread so that nobody has to wait at the other end."""

    def __init__(self, stream: Any, keep: int):
        self._keep, self._end = keep, b""
        self._reader = threading.Thread(target=self._read, args=(os.dup(stream.fileno()),), daemon=True)
        self._reader.start()

    def _read(self, pipe: int) -> None:
        while part := os.read(pipe, 1 << 16):
            self._end = (self._end + part)[-self._keep :]
        os.close(pipe)

    def text(self) -> str:
        """What was kept, when the pipe has ended, or a second after the program."""
        self._reader.join(_LINGERING)
        return self._end.decode(errors="replace")
