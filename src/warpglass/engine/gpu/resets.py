"""Who is told that a GPU was reset: whatever keeps kernels, memory or a context of it from call to call."""

from __future__ import annotations

from collections.abc import Callable

_watchers: list[Callable[[int], None]] = []


def on_reset(watcher: Callable[[int], None]) -> Callable[[int], None]:
    """Have a function called with a GPU's number each time its context has been given up; a decorator."""
    _watchers.append(watcher)
    return watcher


def announce_reset(ordinal: int) -> None:
    """Say that all that was on a GPU is lost."""
    for watcher in _watchers:
        watcher(ordinal)
