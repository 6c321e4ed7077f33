"""What a program has the GPU do and which functions it calls, with their times, for a summary of both.

Belongs here: the functions of both APIs with a clock around them. What one function of ours calls of another
is no call of the program's, but copies and fills are counted wherever they come from.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from ...cuda_runtime.calls import CALLS as RUNTIME
from ...cuda_runtime.calls import OF_RELEASE_12
from ...engine.launch.backend import Backend, Launch, Outcome
from ...libraries.frame import Library
from ...numba_device.calls import CALLS as DRIVER
from ...records.activity import API, GPU, LIBRARY, Activity
from ..records import Sender

_EVERY = 0.1  # seconds between two records, so that what is killed has told nearly all
_COPIES = {
    "HtoD": "[CUDA memcpy HtoD]",
    "DtoH": "[CUDA memcpy DtoH]",
    "DtoD": "[CUDA memcpy DtoD]",
    "Memset": "[CUDA memset]",
    "Memcpy": "[CUDA memcpy]",
}


class Activities:
    """The sums of a process so far, and who is told of them."""

    def __init__(self, sender: Sender):
        self._sender = sender
        self._sums: dict[tuple[str, str], list[float]] = {}
        self._lock = threading.Lock()
        self._sent = time.perf_counter()
        self._inside = threading.local()

    def watch(self) -> None:
        """Put a clock around all functions; must come before they are handed out."""
        for calls in (RUNTIME, OF_RELEASE_12, DRIVER):
            for one in calls.values():
                if not one.name.startswith("__cuda") or one.name == "__cudaLaunchKernel":
                    one.function = self._timed(one.name.lstrip("_"), one.function)
        Library.told.append(self._of_library)

    def make(self, place: Backend, launch: Launch) -> Outcome:
        """Make a launch; a watcher for `lab.watching`."""
        outcome = place.run(launch)
        self._add(GPU, launch.compiled.name, outcome.seconds)
        return outcome

    def _of_library(self, library: str, function: str, seconds: float) -> None:
        """A function of a virtual library, which works on the host."""
        self._add(LIBRARY, f"{function} [virtual {library}]", seconds)

    def send(self) -> None:
        """Tell what has not been told yet."""
        with self._lock:
            rows = [
                Activity(kind, name, int(calls), total, least, most)
                for (kind, name), (calls, total, least, most) in self._sums.items()
            ]
            self._sums.clear()
            self._sent = time.perf_counter()
        if rows:
            self._sender.send(rows)

    def _timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        activity = next((text for part, text in _COPIES.items() if part in name), None)
        moves = activity is not None and name.startswith("cuM")

        def timed(*arguments: Any) -> Any:
            outer = getattr(self._inside, "depth", 0)
            if outer and not moves:
                return function(*arguments)
            self._inside.depth = outer + 1
            started = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                took = time.perf_counter() - started
                self._inside.depth = outer
                if not outer:
                    self._add(API, name, took)
                if moves and activity is not None:
                    self._add(GPU, activity, took)

        return timed

    def _add(self, kind: str, name: str, seconds: float) -> None:
        with self._lock:
            row = self._sums.setdefault((kind, name), [0, 0.0, seconds, seconds])
            row[:] = row[0] + 1, row[1] + seconds, min(row[2], seconds), max(row[3], seconds)
        if time.perf_counter() - self._sent > _EVERY:
            self.send()
