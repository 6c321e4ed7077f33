"""How much of the host one kernel may take: memory, and time to compile it.

Belongs here: the two variables, their defaults and their forms. Who needs how much is known where it is
allocated (engine/footprint.py) or compiled (source/apart.py, engine/prepared.py).

`WARPGLASS_MEMORY` is a number of bytes, with K, M, G or T for 2**10 to 2**40; half of the machine's memory by
default. `WARPGLASS_COMPILE_TIMEOUT` is a number of seconds, 120 by default.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from .environment import read
from .errors import ArgumentError, CompileError

MEMORY, COMPILE_TIMEOUT = "WARPGLASS_MEMORY", "WARPGLASS_COMPILE_TIMEOUT"
_UNKNOWN = 4 << 30  # bytes to assume where the machine does not say how many it has
_SECONDS = 120.0
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def memory_limit() -> int:
    """Bytes that a launch, or a compiler, may take. Raises ArgumentError for a variable that is no size."""
    wish = read(MEMORY).strip()
    if not wish:
        return _host_memory() // 2
    found = _SIZE.fullmatch(wish)
    size = int(float(found[1]) * (1 << _UNITS[found[2].upper()])) if found else 0
    if size < 1:
        raise ArgumentError(f"{MEMORY} is {wish!r}; it must be a number of bytes such as 2G, 500M or 1048576")
    return size


def compile_timeout() -> float:
    """Seconds that compiling one kernel may take. Raises ArgumentError for a variable that is no number."""
    wish = read(COMPILE_TIMEOUT).strip()
    if not wish:
        return _SECONDS
    try:
        seconds = float(wish)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= threading.TIMEOUT_MAX:  # NaN as well
        raise ArgumentError(f"{COMPILE_TIMEOUT} is {wish!r}; it must be a number of seconds above 0")
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
    limits of their own (source/apart.py).
    """
    seconds = compile_timeout()
    thread = ctypes.c_ulong(threading.get_ident())
    lock = threading.Lock()
    over = thrown = False

    def throw() -> None:
        nonlocal thrown
        with lock:
            if not over:
                thrown = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(_OutOfTime))

    timer = threading.Timer(seconds, throw)
    timer.daemon = True
    timer.start()
    try:
        try:
            yield
        finally:
            with lock:
                over = True
                timer.cancel()
                if thrown:  # take back what has not arrived yet
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, None)
    except _OutOfTime:
        raise too_slow(what, seconds) from None


@cache
def _host_memory() -> int:
    """Bytes of memory of this machine, or of the container if that is less."""
    sizes = [_installed(), *_container_limits()]
    return min([size for size in sizes if size > 0], default=_UNKNOWN)


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
