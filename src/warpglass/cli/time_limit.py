"""A program with a limit of time: it runs in a process of its own, and ends with all that it has started.

A thread could not end a program that keeps the interpreter to itself, and a group of processes would be taken
from the terminal, so the program is a child of this process, which waits. On Linux, processes whose parents
have ended become children of this one, and are found, too.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..errors import ArgumentError
from .status import INTERRUPTED, TIMED_OUT

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_GRACE = 1.0  # seconds between asking processes to end and ending them
_PROCESSES = Path("/proc")


def run_limited(arguments: Sequence[str], seconds: float, what: str) -> int:
    """Run `warpglass ARGUMENTS` for so many seconds at most; returns its exit status, or TIMED_OUT."""
    return run_child([sys.executable, "-m", "warpglass", *arguments], what, seconds=seconds)


def run_child(
    command: Sequence[str],
    what: str,
    *,
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> int:
    """Run a command, for so many seconds at most if they are given; its exit status, as of a shell.

    `file` is what is run if that is not the command's first word. TIMED_OUT after the time, INTERRUPTED after
    Ctrl-C; then, and when this process ends, all that the command has started ends, too.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    sys.stdout.flush()
    try:
        program = subprocess.Popen(command, executable=file, env=environment, preexec_fn=_end_with_parent)
    except OSError as problem:
        raise ArgumentError(f"{command[0]} cannot be run: {problem.strerror}") from None
    before = signal.signal(signal.SIGTERM, lambda *_: _end(program) or sys.exit(128 + signal.SIGTERM))
    try:
        status = program.wait(seconds)
    except subprocess.TimeoutExpired:
        _end(program)
        sys.stderr.write(
            f"warpglass: {what} did not end within {seconds:g} s (--timeout); it was ended with all that it "
            "has started\n"
        )
        return TIMED_OUT
    except KeyboardInterrupt:  # the terminal has told the program, too
        with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            program.wait(_GRACE)
        _end(program)
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)
    return status if status >= 0 else 128 - status


def _end_with_parent() -> None:
    """Let this process, which is about to become the command, end when its parent is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _end(program: subprocess.Popen[bytes]) -> None:
    """Ask all processes below this one to end, and end those that do not."""
    _tell(program, signal.SIGTERM)
    give_up = time.monotonic() + _GRACE
    while time.monotonic() < give_up and (program.poll() is None or any(_below())):
        time.sleep(0.02)
    kill = getattr(signal, "SIGKILL", signal.SIGTERM)
    while program.poll() is None or any(_below()):  # what is started meanwhile is found the next time
        _tell(program, kill)
        time.sleep(0.01)
    with contextlib.suppress(ChildProcessError, AttributeError):  # Windows has no children to wait for
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _tell(program: subprocess.Popen[bytes], number: signal.Signals) -> None:
    for process in _below():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)
    program.send_signal(number)


def _below() -> Iterator[int]:
    """All running processes below this one; none where the system does not list them."""
    children: dict[int, list[int]] = {}
    for entry in _PROCESSES.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = entry.read_text("utf-8", "replace").rpartition(")")[2].split()[:2]
            if state not in "ZX":
                children.setdefault(int(parent), []).append(int(entry.parent.name))
    waiting = children.pop(os.getpid(), [])
    while waiting:
        process = waiting.pop()
        yield process
        waiting += children.pop(process, [])
