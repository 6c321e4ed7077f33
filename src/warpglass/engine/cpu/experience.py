"""What launches of a kernel tell about later ones: how many workers are of use, and what they share.

Where blocks mostly wait for their turns, more workers take longer than one: each takes the cache lines from
the others. They leave such a launch early (codegen/control/turns.py), and later ones begin with those that
stayed. And how often workers change elements that they share says what it is worth to keep arrays apart
(privatisation.py). Few blocks are worth more than one worker only if they take long.
"""

from __future__ import annotations

# Launches for which it holds that workers have left one.
_KEPT = 64
# Seconds that a launch must take for workers to be woken for a few blocks each.
_LONG = 0.5e-3


class Experience:
    """What launches of one kernel have found."""

    def __init__(self) -> None:
        self.workers: int | None = None  # that are of use where blocks take turns; None: all
        self.changes = 0  # elements that a launch changes by atomic operations, a power of two, at least
        self.long = False  # whether a launch of few blocks has taken long
        self._left = 0

    @property
    def known(self) -> tuple[int | None, int, bool]:
        """What plans follow from."""
        return self.workers, self.changes, self.long

    def note_turns(self, count: int, stayed: int) -> None:
        """A launch whose blocks took turns began with `count` workers and ended with `stayed`."""
        if stayed < count:
            self.workers, self._left = stayed, _KEPT
        elif self.workers is not None:
            self._left -= 1
            if not self._left:
                self.workers = None

    def note_changes(self, count: int) -> None:
        """A launch on several threads has changed so many elements that they share."""
        if count > self.changes:
            self.changes = 1 << (count.bit_length() - 1)

    def note_seconds(self, seconds: float) -> None:
        """A launch of few blocks on one thread has taken so long."""
        self.long |= seconds > _LONG
