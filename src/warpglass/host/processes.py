"""Python processes that this one starts: for what they must not be started, and that they end with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import wait

from ..errors import ArgumentError


def refuse_importing(what: str) -> None:
    """Raise ArgumentError where a process that we start imports the script which called `what`."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise ArgumentError(f"{what} starts processes: call it under `if __name__ == '__main__':`")


def end_with_parent() -> None:
    """Let this process end when the one that started it has ended, whatever it does then."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Let processes and threads that begin in this context never see Ctrl-C, which comes here afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # which multiprocessing does first, and which would undo the next line
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
