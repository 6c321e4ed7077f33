"""How often-repeated launches are timed, one way for both back ends.

Belongs here: warm-up, cold caches, restoring of inputs, and the median. What one launch took is the back
end's word (device events on a GPU, wall time on the engine); the two labels never mix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from .backend import Backend, Launch, Outcome


@dataclass(frozen=True, slots=True)
class Timing:
    """The repeats of one measurement, in the order in which they ran.

    `seconds` are kernel times, `transfer_seconds` the copies of NumPy arrays to the device and back.
    """

    label: str
    seconds: tuple[float, ...]
    transfer_seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median kernel time in seconds."""
        return median(self.seconds)


def time_launches(
    backend: Backend,
    launches: Sequence[Launch],
    repeat: int,
    restore: Callable[[], None] | None = None,
    warm_up: int = 1,
) -> Timing:
    """Time a sequence of launches `repeat` times, each time from restored inputs and cold caches.

    `restore` puts the inputs back before every repeat, warm-ups included, and is not timed. The time of a
    repeat is the sum over its launches.
    """
    return time_work(backend, lambda: [backend.run(launch) for launch in launches], repeat, restore, warm_up)


def time_work(
    backend: Backend,
    work: Callable[[], Sequence[Outcome]],
    repeat: int,
    restore: Callable[[], None] | None = None,
    warm_up: int = 1,
) -> Timing:
    """As time_launches, for launches whose number or arguments the host decides on the way."""
    if repeat < 1:
        raise ValueError(f"repeat is {repeat}; it is at least 1")
    rounds: list[Sequence[Outcome]] = []
    for _ in range(warm_up + repeat):
        if restore is not None:
            restore()
        backend.flush_caches()
        rounds.append(work())
    timed = rounds[warm_up:]
    return Timing(
        label=timed[0][0].label,
        seconds=tuple(sum(outcome.seconds for outcome in outcomes) for outcomes in timed),
        transfer_seconds=tuple(sum(outcome.transfer_seconds for outcome in outcomes) for outcomes in timed),
    )
