"""The processor's cores: which this process may use, and on which a thread is or stays."""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path


def own_cores() -> tuple[int, ...]:
    """The numbers of the cores that this process may run on; empty where systems do not say."""
    return tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()


def core_count() -> int:
    """How many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spare_cores() -> int:
    """Cores beside the one that runs Python."""
    return core_count() - 1


def current_core() -> int:
    """The core that the calling thread is on just now; -1 where systems do not say."""
    return _asks()()


def stay_on(*cores: int, thread: int = 0) -> None:
    """Keep a thread, the calling one or by its number, on cores, if the process may still use them."""
    with suppress(OSError, ValueError):  # ValueError: no core's number
        os.sched_setaffinity(thread, cores)


@cache
def _asks() -> Callable[[], int]:
    try:
        return ctypes.CDLL(None).sched_getcpu
    except (AttributeError, OSError, TypeError):  # another libc; TypeError: Windows has no unnamed library
        return lambda: -1


@cache
def cpu_name() -> str:
    """The processor's name, or what is known of its kind."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as info:
            for line in info:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or os.name
