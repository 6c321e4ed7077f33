"""Calls with a deadline, each in a process of its own kind beside this one: what hangs or crashes ends that.

For processes that must not end, nor start others by multiprocessing, as workers of a Dask cluster. A call is
pickled bytes, so that this process imports nothing that only the calls need. A process is used for one call
after another, and by one thread at a time; one that has had no call for a minute is ended.
"""

from __future__ import annotations

import contextlib
import json
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CHILD = str(Path(__file__).with_name("slot_child.py"))
_IDLE = 60.0  # seconds without a call after which a process is ended
_STARTING = 120.0  # seconds that a process has for its start
RETURNED, RAISED, ENDED, LOST = "returned", "raised", "ended", "lost"


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a call: it returned, raised an exception, was ended for its time, or lost its process.

    `content` is what it returned, pickled; `text` says why there is none.
    """

    how: str
    content: bytes = b""
    text: str = ""


def call_all(function: bytes, calls: Sequence[tuple[bytes, float]]) -> list[Answer]:
    """Call a function with each argument, all pickled, one after another; each call has so many seconds.

    The function and its arguments are found on this process's sys.path.
    """
    slot: _Slot | None = None
    answers: list[Answer] = []
    try:
        for argument, seconds in calls:
            if slot is None or not slot.alive:
                slot = _take()
            answers.append(slot.call((function, argument), seconds))
    finally:
        if slot is not None:
            _give_back(slot)
    return answers


class _Slot:
    """A process that answers calls."""

    def __init__(self) -> None:
        self.alive = True
        self.rest: threading.Timer | None = None  # what ends it if nobody takes it again
        self._waiting = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-P", _CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        answer = self._ask(json.dumps(sys.path).encode() + b"\n", _STARTING)
        if answer.how != RETURNED:
            raise OSError(f"a process for calls does not start: {answer.text}")

    def call(self, call: Any, seconds: float) -> Answer:
        """Have a call answered in so many seconds."""
        return self._ask(pickle.dumps(call), seconds)

    def end(self) -> None:
        """End the process."""
        self.alive = False
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _ask(self, said: bytes, seconds: float) -> Answer:
        process, late = self._process, threading.Event()
        assert process.stdin is not None
        assert process.stdout is not None

        def too_late() -> None:
            with self._waiting:
                if not answered:
                    late.set()
                    process.kill()

        answered = False
        how, content, text = LOST, b"", ""
        timer = threading.Timer(seconds, too_late)
        timer.daemon = True
        timer.start()
        try:
            process.stdin.write(said)
            process.stdin.flush()
            how, content, text = pickle.load(process.stdout)
            with self._waiting:  # from now on nobody ends it
                answered = True
        except (OSError, EOFError, pickle.UnpicklingError):
            process.wait()
        finally:
            timer.cancel()
        if late.is_set():
            self.end()
            return Answer(ENDED, text=f"ended after {seconds:.6g} s")
        if not answered:
            self.end()
            return Answer(LOST, text=f"the process that did it ended {_end_of(process.returncode)}")
        return Answer(how, content, text)


def _end_of(status: int) -> str:
    if status >= 0:
        return f"with status {status}"
    try:
        return f"by signal {-status} ({signal.Signals(-status).name})"
    except ValueError:
        return f"by signal {-status}"


_idle: list[_Slot] = []
_lock = threading.Lock()


def _take() -> _Slot:
    """A process that nobody else uses, an idle one if there is one."""
    with _lock:
        while _idle:
            slot = _idle.pop()
            if slot.rest is not None:
                slot.rest.cancel()
            if slot.alive:
                return slot
    return _Slot()


def _give_back(slot: _Slot) -> None:
    """Keep a process for the next call, for a while."""
    if not slot.alive:
        return

    def rested() -> None:
        with _lock:
            if slot not in _idle:
                return
            _idle.remove(slot)
        slot.end()

    slot.rest = threading.Timer(_IDLE, rested)
    slot.rest.daemon = True
    with _lock:
        _idle.append(slot)
    slot.rest.start()
