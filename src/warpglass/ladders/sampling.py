"""How often a measurement is repeated: until its median is known, or the patience ends.

Belongs here: numbers, no device. A median of n values with the standard deviation s is itself off by about
sqrt(pi / 2) s / sqrt(n) (Kenney and Keeping, Mathematics of Statistics, part 2, for normal values). Times
have outliers, which only lengthen them, so s comes from the median of the deviations: s = 1.4826 of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

_DEVIATION = 1.4826  # of normal values: the standard deviation by the median absolute one
_OF_MEDIAN = math.sqrt(math.pi / 2)


@dataclass(frozen=True, slots=True)
class Patience:
    """When a measurement ends: at a relative error of the median, or at whichever limit comes first."""

    error: float = 0.005
    least: int = 5  # samples, whatever they are
    most: int = 500
    seconds: float = 0.4  # by the clock, of all samples of one contestant


def noise_of(seconds: Sequence[float]) -> float:
    """The relative standard deviation of times, without outliers; 0 of a single one."""
    middle = median(seconds)
    return _DEVIATION * median(abs(one - middle) for one in seconds) / middle if middle else 0.0


@dataclass(slots=True)
class Samples:
    """The times of one contestant, in the order in which they were taken."""

    patience: Patience
    seconds: list[float] = field(default_factory=list[float])
    spent: float = 0.0  # seconds by the clock

    @property
    def error(self) -> float:
        """The relative standard error of the median; infinite while there are too few."""
        if len(self.seconds) < max(3, self.patience.least):
            return math.inf
        return _OF_MEDIAN * noise_of(self.seconds) / math.sqrt(len(self.seconds))

    @property
    def enough(self) -> bool:
        """Whether the median is known, or the patience is over."""
        return (
            self.error < self.patience.error
            or len(self.seconds) >= self.patience.most
            or (self.spent >= self.patience.seconds and bool(self.seconds))
        )

    @property
    def wanted(self) -> int:
        """How many samples a next round should take: a fifth of the patience, by what they took so far."""
        if not self.seconds:
            return max(3, self.patience.least)
        each = self.spent / len(self.seconds)
        return max(1, min(50, int(self.patience.seconds / 5 / each))) if each else 50
