"""Background threads: jobs one after another, the latest first, until the process ends.

Where jobs wait, as compilations for which nobody waits do, the latest is for what the program does now, and
what it has done before may not come again.

What is under way when the process ends is given up without a word: it cannot start threads any more.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count

Job = Callable[[], None]
_Entry = tuple[float, int, Job]  # when it is done, and a number, which is less for later ones
_numbers = count(0, -1)


def in_background(job: Job, thread: str = "optimiser", pause: float = 0.0) -> None:
    """Have a job done on a background thread of this process, after `pause` seconds and later jobs."""
    when = time.monotonic() + pause if pause else 0.0
    _start(thread, os.getpid()).put((when, next(_numbers), job))  # threads do not survive a fork


@lru_cache(maxsize=4)
def _start(thread: str, _process: int) -> queue.SimpleQueue[_Entry]:
    work: queue.SimpleQueue[_Entry] = queue.SimpleQueue()
    threading.Thread(target=_serve, args=(work,), name=f"warpglass-{thread}", daemon=True).start()
    return work


def _serve(work: queue.SimpleQueue[_Entry]) -> None:
    waiting: list[_Entry] = []
    while True:
        pause = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        try:
            heappush(waiting, work.get(timeout=pause))
        except queue.Empty:
            _do(heappop(waiting)[-1])


def _do(job: Job) -> None:
    try:
        job()
    except RuntimeError as error:  # from Python 3.12 on: no thread can be started any more
        if "interpreter shutdown" not in str(error):
            raise
