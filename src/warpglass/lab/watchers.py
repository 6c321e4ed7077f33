"""Who makes launches in place of the back ends that they are for: checks, profiles, clocks of programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from ..engine.launch.backend import Backend, Launch, Outcome

# Makes a launch in place of the back end that was asked for.
Watcher = Callable[[Backend, Launch], Outcome]
Placer = Callable[[Launch], str]
# A list, not a context variable: threads of a program are watched as well.
_watchers: list[tuple[Watcher, Placer | None]] = []
_told: list[Callable[[], None]] = []


@contextmanager
def watching(watcher: Watcher, placer: Placer | None = None) -> Iterator[None]:
    """Let `watcher` make every launch of `run`, `k[grid, block](...)` and the virtual GPU meanwhile.

    Of any thread. `placer` tells where the calling thread asks for a launch, if a watcher can be told.
    """
    watching = watcher, placer
    _watchers.append(watching)
    for told in _told:
        told()
    try:
        yield
    finally:
        _watchers.remove(watching)


def watched() -> bool:
    """Whether somebody watches launches."""
    return bool(_watchers)


def when_watched(told: Callable[[], None]) -> None:
    """Call `told` whenever somebody begins to watch, for who makes launches without asking each time."""
    _told.append(told)


def carry_out(place: Backend, launch: Launch) -> Outcome:
    """Make a launch at a back end, or let the watcher make it."""
    return _watchers[-1][0](place, launch) if _watchers else place.run(launch)


def for_another_thread(launch: Launch) -> Launch | None:
    """A launch that another thread can make; None if a watcher has to find its place on this one's stack."""
    if not _watchers:
        return launch
    placer = _watchers[-1][1]
    return None if placer is None else replace(launch, place=placer(launch))
