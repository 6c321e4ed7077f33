"""The standing worker threads of the CPU engine.

Kernels run in native code that releases the GIL, one call per worker. The launching thread waits in Python, so
Ctrl-C and the watchdog act at once: they set the stop flag, which the native code reads at every block and
every backward jump.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable

Job = Callable[[int], None]


def thread_count() -> int:
    """Workers to use: WARPGLASS_THREADS, or the cores this process may run on."""
    wish = os.environ.get("WARPGLASS_THREADS", "")
    if wish.isdecimal() and int(wish) > 0:
        return int(wish)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Pool:
    """Worker threads 0, 1, ...; worker k always runs on the same thread, so its buffers stay warm."""

    def __init__(self) -> None:
        self._inboxes: list[queue.SimpleQueue[tuple[Job, queue.SimpleQueue[BaseException | None]]]] = []
        self._process = os.getpid()

    def start(self, job: Job, workers: int) -> queue.SimpleQueue[BaseException | None]:
        """Run `job(k)` on workers 0 .. workers-1; the queue returned receives one item per worker's end."""
        if self._process != os.getpid():  # threads do not survive a fork
            self._inboxes = []
            self._process = os.getpid()
        while len(self._inboxes) < workers:
            self._grow()
        done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        for inbox in self._inboxes[:workers]:
            inbox.put((job, done))
        return done

    def _grow(self) -> None:
        number = len(self._inboxes)
        inbox: queue.SimpleQueue[tuple[Job, queue.SimpleQueue[BaseException | None]]] = queue.SimpleQueue()
        self._inboxes.append(inbox)

        def serve() -> None:
            while True:
                job, done = inbox.get()
                try:
                    job(number)
                except BaseException as error:  # handed to the launching thread, which raises it
                    done.put(error)
                else:
                    done.put(None)

        threading.Thread(target=serve, name=f"warpglass-{number}", daemon=True).start()
