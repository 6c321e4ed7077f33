"""Locks between processes: of files, which the system gives back however their holder ends."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_PAUSE = 0.05  # seconds between two tries
_LONGEST = 60.0  # seconds; whoever holds a lock for longer has been stopped, or sleeps


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file's lock; its holder is waited for a minute. Where there can be none, go on without it."""
    held, end = None, time.monotonic() + _LONGEST
    while held is None and time.monotonic() < end:
        try:
            held = _take(path)
        except BlockingIOError:
            time.sleep(_PAUSE)
        except OSError:  # a read-only disk, or one that knows no locks
            break
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


@contextmanager
def slot(folder: Path | None, name: str, count: int) -> Iterator[bool]:
    """Hold one of `count` locks in a folder, for a share of what processes share; False if all are taken.

    Where there can be none, all may go on.
    """
    held, free = None, folder is None
    for number in range(count if folder is not None else 0):
        try:
            held = _take(Path(folder or "", f"{name}-{number}.lock"))
        except BlockingIOError:
            continue
        except OSError:
            pass
        free = True
        break
    try:
        yield free
    finally:
        if held is not None:
            os.close(held)


def _take(path: Path) -> int:
    """Take a file's lock: the descriptor that holds it until it is closed. The file is made, and stays.

    Raises BlockingIOError if somebody else has it, OSError if there can be none.
    """
    held = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        if sys.platform == "win32":
            msvcrt.locking(held, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(held)
        if isinstance(error, PermissionError):  # Windows' word for it
            raise BlockingIOError from None
        raise
    return held
