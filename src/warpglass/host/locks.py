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
    held = take(path, wait=True)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def take(path: Path, *, wait: bool) -> int | None:
    """Take a file's lock: the descriptor that holds it until it is closed. The file is made, and stays.

    None if another process has it and is not waited for, or if there can be none, as on a read-only disk.
    """
    try:
        held = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError:
        return None
    try:
        _take(held, wait)
    except OSError:
        os.close(held)
        return None
    return held


if sys.platform == "win32":

    def _take(held: int, wait: bool) -> None:
        while True:
            try:
                msvcrt.locking(held, msvcrt.LK_NBLCK, 1)
                return
            except OSError:
                if not wait:
                    raise
            time.sleep(_PAUSE)
else:

    def _take(held: int, wait: bool) -> None:
        fcntl.flock(held, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
