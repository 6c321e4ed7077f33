"""Who looks after a launch that the launching thread runs itself.

To hand a launch to a worker takes longer than many kernels run, so the main thread runs those that were over
soon the last time. Nothing reaches Python meanwhile: neither Ctrl-C nor the clock. A thread that sleeps else
hears of signals, whose numbers Python's handler in C writes to a socket, and looks at the clock now and then.
It stops the kernel, or has it come back to Python once between two blocks, for a handler that may go on.

Python has one place for such a socket. Where an event loop has its own there (asyncio), and on other threads
than the main one, launches are handed to workers.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
import time
from contextlib import suppress
from math import inf
from typing import Protocol

# Seconds between two looks at the clock, and looks without a new launch after which there are no more.
_EVERY, _IDLE = 0.05, 20
_NOBODY = -1  # what signal.set_wakeup_fd returns if nobody has a socket there


class Guarded(Protocol):
    """What can be told to a launch."""

    def stop(self) -> None:
        """End at once."""
        ...

    def come_back(self) -> None:
        """Let Python run between two blocks."""
        ...

    def notice(self) -> None:
        """It takes long."""
        ...


class Guard:
    """Looks after one launch at a time, of the main thread."""

    def __init__(self) -> None:
        self._begin()
        if hasattr(os, "register_at_fork"):  # neither thread nor lock are of use to a child
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._launch: Guarded | None = None
        self._launches = 0
        self._alarm = self._deadline = inf
        self._late = self._pressed = self._stale = self._asleep = False
        self._reads: socket.socket | None = None
        self._wakes: socket.socket | None = None
        self._number = _NOBODY  # of the socket that wakes
        self._main = threading.main_thread().ident

    def begin(self, launch: Guarded, timeout: float, long: float) -> bool:
        """Look after a launch of the calling thread's from now on, if that is possible.

        It is stopped after `timeout` seconds, and told after `long` seconds that it takes long. `end` is to
        follow, or `abandon` whatever has been raised since this was called.
        """
        if threading.get_ident() != self._main:
            return False
        wakes, number = self._wakes or self._start(), self._number
        other = signal.set_wakeup_fd(number, warn_on_full_buffer=False)
        if other not in (_NOBODY, number):
            signal.set_wakeup_fd(other)
            return False
        now = time.monotonic()
        with self._lock:
            if self._stale:
                self._heard()
            self._launch, self._late, self._pressed, self._stale = launch, False, False, False
            self._launches += 1
            self._alarm, self._deadline = now + long, now + timeout
            asleep, self._asleep = self._asleep, False
        if asleep:
            wakes.send(b"\0")
        return True

    def hasten(self, seconds: float) -> None:
        """A part of the launch has failed: the rest has so long to end."""
        with self._lock:
            self._deadline = min(self._deadline, time.monotonic() + seconds)

    def end(self) -> bool:
        """Look no longer; whether the launch has been stopped since its time was over.

        Raises KeyboardInterrupt if it has been stopped for that.
        """
        with self._lock:
            self._launch = None
        other = signal.set_wakeup_fd(_NOBODY)
        if other != self._number:
            signal.set_wakeup_fd(other)
        if self._pressed:
            raise KeyboardInterrupt
        return self._late

    def abandon(self) -> None:
        """Look no longer after a launch that has been left by an exception.

        The signal that has raised it may not be heard yet, and is not to end the next launch.
        """
        self._pressed, self._stale = False, True
        if self._wakes is not None and threading.get_ident() == self._main:
            self.end()

    def _start(self) -> socket.socket:
        reads, wakes = socket.socketpair()
        reads.setblocking(False)
        wakes.setblocking(False)
        threading.Thread(target=self._serve, args=(reads,), name="warpglass-guard", daemon=True).start()
        self._reads, self._wakes, self._number = reads, wakes, wakes.fileno()
        return wakes

    def _serve(self, reads: socket.socket) -> None:
        seen = looks = 0
        while True:
            select.select([reads], [], [], None if self._asleep else _EVERY)
            notice = None
            with self._lock:
                for number in self._heard():
                    self._tell(number)
                now = time.monotonic()
                if self._launch is not None and now >= self._deadline:
                    self._late = True
                    self._launch.stop()
                elif self._launch is not None and now >= self._alarm:
                    self._alarm, notice = inf, self._launch.notice
                looks = 0 if self._launches != seen or self._launch is not None else looks + 1
                seen = self._launches
                self._asleep = looks > _IDLE
            if notice is not None:
                with suppress(Exception):  # what it begins is in the background, and says what is wrong
                    notice()

    def _heard(self) -> bytes:
        """The numbers of the signals that have come since; 0 is none. The lock is held."""
        try:
            return self._reads.recv(4096) if self._reads is not None else b""
        except BlockingIOError:
            return b""

    def _tell(self, number: int) -> None:
        if self._launch is None or not number:
            return
        if number == signal.SIGINT and signal.getsignal(number) is signal.default_int_handler:
            self._pressed = True
            self._launch.stop()
        else:
            self._launch.come_back()


def hears_signals() -> bool:
    """Whether Python has handlers of signals, as for Ctrl-C: in programs that are not Python it has none."""
    return any(callable(signal.getsignal(number)) for number in (signal.SIGINT, *range(1, signal.NSIG)))


GUARD = Guard()  # the process's own
