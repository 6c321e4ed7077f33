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

_PAUSE = 0.05  # seconds between two tries, where the system cannot wait


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file's lock, for which its holder is waited. Where there can be none, go on without it."""
    try:
        held = _open(path, wait=True)
    except OSError:  # a read-only disk, or one that knows no locks
        held = None
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
    held, free = None, False
    for number in range(count):
        try:
            if folder is not None:
                held = _open(folder / f"{name}-{number}.lock", wait=False)
            free = True
            break
        except BlockingIOError:
            continue
        except OSError:
            free = True
            break
    try:
        yield free
    finally:
        if held is not None:
            os.close(held)


def _open(path: Path, *, wait: bool) -> int:
    """Take a file's lock: the descriptor that holds it until it is closed. The file is made, and stays.

    Raises BlockingIOError if another process has it and is not waited for, OSError if there can be none.
    """
    held = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        _take(held, wait)
    except OSError:
        os.close(held)
        raise
    return held


if sys.platform == "win32":

    def _take(held: int, wait: bool) -> None:
        while True:
            try:
                msvcrt.locking(held, msvcrt.LK_NBLCK, 1)
                return
            except PermissionError:
                if not wait:
                    raise BlockingIOError from None
            time.sleep(_PAUSE)
else:

    def _take(held: int, wait: bool) -> None:
        fcntl.flock(held, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
