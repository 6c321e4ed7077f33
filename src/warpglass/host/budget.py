"""How much of the host one kernel may take: memory, and time to compile it.

Belongs here: the variables, their defaults and their forms. Who needs how much is known where it is
allocated (engine/cpu/footprint.py) or compiled (source/apart.py, engine/cpu/prepared.py).

`WARPGLASS_MEMORY` is a number of bytes, with K, M, G or T for 2**10 to 2**40; half of the machine's memory by
default. `WARPGLASS_COMPILE_TIMEOUT` is a number of seconds, 120 by default. What is optimised in the
background has `WARPGLASS_OPTIMISE_MEMORY`, a share of what is free, and `WARPGLASS_OPTIMISE_TIMEOUT`, 60 s.
"""

from __future__ import annotations

import ctypes
import gc
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from ..errors import ArgumentError, CompileError
from .cores import core_count
from .environment import read

MEMORY, COMPILE_TIMEOUT = "WARPGLASS_MEMORY", "WARPGLASS_COMPILE_TIMEOUT"
OPTIMISE_MEMORY, OPTIMISE_TIMEOUT = "WARPGLASS_OPTIMISE_MEMORY", "WARPGLASS_OPTIMISE_TIMEOUT"
_UNKNOWN = 4 << 30  # bytes to assume where the machine does not say how many it has
_SECONDS, _OPTIMISE_SECONDS = 120.0, 60.0
# What an interpreter with a compiler needs in any case, so that a small limit does not stop it.
_LEAST = 1 << 30
# How much longer than its processor time the clock may say that something in the background takes.
_PATIENCE = 4
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call of a compiler may take: seconds of processor time, bytes, seconds by the clock."""

    seconds: float
    memory: int
    patience: float


def memory_limit() -> int:
    """Bytes that a launch, or a compiler, may take. Raises ArgumentError for a variable that is no size."""
    return _size(MEMORY) or _host_memory() // 2


def compile_timeout() -> float:
    """Seconds that compiling one kernel may take. Raises ArgumentError for a variable that is no number."""
    return _number(COMPILE_TIMEOUT) or _SECONDS


def compile_limits() -> Limits:
    """What a compiler may take while somebody waits for it. Raises ArgumentError for a bad variable."""
    return Limits(compile_timeout(), max(memory_limit(), _LEAST), compile_timeout())


def background_share() -> int:
    """How many compilers may work at once, of all processes, for which nobody waits: half of the cores."""
    return max(1, core_count() // 2)


def background_limits() -> Limits:
    """What one of them may take: by default as much memory as lets all have half of what is free now.

    It is a power of two, so that it seldom changes. Raises ArgumentError for a bad variable.
    """
    seconds = _number(OPTIMISE_TIMEOUT) or _OPTIMISE_SECONDS
    share = max(_free_memory() // 2 // background_share(), _LEAST)
    memory = _size(OPTIMISE_MEMORY) or min(1 << share.bit_length() - 1, memory_limit())
    return Limits(seconds, max(memory, _LEAST), _PATIENCE * seconds)


def _size(variable: str) -> int:
    """The bytes that a variable says, 0 if it is not set."""
    wish = read(variable).strip()
    found = _SIZE.fullmatch(wish)
    size = int(float(found[1]) * (1 << _UNITS[found[2].upper()])) if found else 0
    if wish and size < 1:
        raise ArgumentError(
            f"{variable} is {wish!r}; it must be a number of bytes such as 2G, 500M or 1048576"
        )
    return size


def _number(variable: str) -> float:
    """The seconds that a variable says, 0 if it is not set."""
    wish = read(variable).strip()
    if not wish:
        return 0.0
    try:
        seconds = float(wish)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= threading.TIMEOUT_MAX:  # NaN as well
        raise ArgumentError(f"{variable} is {wish!r}; it must be a number of seconds above 0")
    return seconds


def too_slow(what: str, seconds: float) -> CompileError:
    """The error for a compilation that was ended."""
    return CompileError(
        f"{what}: compiling did not end within {seconds:g} s and was stopped; "
        f"{COMPILE_TIMEOUT} sets another limit, in seconds"
    )


def in_units(size: int) -> str:
    """A number of bytes for a message: 1.5 GiB."""
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << power:
            return f"{size / (1 << power):.4g} {unit}"
    return f"{size} bytes"


class _OutOfTime(BaseException):
    """Thrown into the compiling thread; no `except Exception` on its way may take it for its own."""


@contextmanager
def compile_deadline(what: str) -> Iterator[None]:
    """Raise CompileError in the block when it has taken longer than the limit.

    It reaches Python code anywhere; a call of native code is let end first, so those that may take long have
    limits of their own (source/apart.py). Meanwhile cyclic garbage is not looked for: compiling makes large
    trees and hardly any, and each look would go through all of them.
    """
    seconds = compile_timeout()
    deadline = _Deadline(time.monotonic() + seconds, threading.get_ident())
    collects = gc.isenabled()
    try:
        try:
            gc.disable()
            _watch_of(os.getpid()).add(deadline)
            yield
        finally:
            deadline.end()
    except _OutOfTime:
        raise too_slow(what, seconds) from None
    finally:
        if collects:
            gc.enable()


class _Deadline:
    """A time at which a thread is interrupted, unless what it does has ended."""

    def __init__(self, time_: float, thread: int):
        self.time = time_
        self._thread = ctypes.c_ulong(thread)
        self._lock = threading.Lock()
        self.over = self._thrown = False

    def throw(self) -> None:
        """Interrupt the thread."""
        with self._lock:
            if not self.over:
                self.over = self._thrown = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(self._thread, ctypes.py_object(_OutOfTime))

    def end(self) -> None:
        """Let the thread go on."""
        with self._lock:
            self.over = True
            if self._thrown:  # take back what has not arrived yet
                ctypes.pythonapi.PyThreadState_SetAsyncExc(self._thread, None)


class _Watch:
    """A standing thread that knows all deadlines: to start one for each took a quarter of what some take."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._deadlines: list[_Deadline] = []
        self._wakes = 0.0  # when it looks next
        threading.Thread(target=self._serve, name="warpglass-deadlines", daemon=True).start()

    def add(self, deadline: _Deadline) -> None:
        """Have a deadline watched."""
        with self._changed:
            self._deadlines = [one for one in self._deadlines if not one.over]
            self._deadlines.append(deadline)
            if deadline.time < self._wakes:
                self._changed.notify()

    def _serve(self) -> None:
        while True:
            with self._changed:
                now = time.monotonic()
                due = [one for one in self._deadlines if one.over or one.time <= now]
                self._deadlines = [one for one in self._deadlines if one not in due]
                self._wakes = min((one.time for one in self._deadlines), default=now + _IDLE)
                if not due:
                    self._changed.wait(self._wakes - now)
            for one in due:
                one.throw()


_IDLE = 3600.0  # seconds; any deadline that is added is sooner


@lru_cache(maxsize=1)
def _watch_of(_process: int) -> _Watch:
    """The watch of this process: threads do not survive a fork."""
    return _Watch()


@cache
def _host_memory() -> int:
    """Bytes of memory of this machine, or of the container if that is less."""
    sizes = [_installed(), *_container_limits()]
    return min([size for size in sizes if size > 0], default=_UNKNOWN)


def _free_memory() -> int:
    """Bytes of memory that nobody uses, where the system says; at most what may be used at all."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as file:
            (kilobytes,) = (line.split()[1] for line in file if line.startswith("MemAvailable:"))
    except (OSError, ValueError):
        return _host_memory()
    return min(int(kilobytes) << 10, _host_memory())


def _installed() -> int:
    if sys.platform == "win32":
        status = (ctypes.c_uint64 * 8)()  # MEMORYSTATUSEX: length and load, total, ...
        ctypes.cast(status, ctypes.POINTER(ctypes.c_uint32))[0] = ctypes.sizeof(status)
        return int(status[1]) if ctypes.windll.kernel32.GlobalMemoryStatusEx(status) else 0
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 0


def _container_limits() -> Iterator[int]:
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            yield int(Path(path).read_text(encoding="ascii"))
        except (OSError, ValueError):  # not there, or "max"
            continue
