"""What launches of a kernel tell about later ones: how many workers are of use, and what they share.

Where blocks mostly wait for their turns, more workers take longer than one: each takes the cache lines from
the others. They leave such a launch early (codegen/control/turns.py), and later ones begin with those that
stayed. Where workers contend for what they all change, or copies for each of them take long, one worker is
tried, and kept if it is quicker. How often workers change elements that they share says what it is worth to
keep arrays apart (privatisation.py). Few blocks are worth more than one worker only if they take long.
"""

from __future__ import annotations

from math import inf

# Launches for which it holds that workers have left one, and that one alone is quicker than all.
_KEPT, _LONG_KEPT = 64, 1024
# Launches of which the quickest counts: of all workers, and of one.
_TRIED = 3
# Seconds that a launch must take for workers to be woken for a few blocks each.
_LONG = 0.5e-3


class Experience:
    """What launches of one kernel have found."""

    def __init__(self) -> None:
        self.workers: int | None = None  # that are of use; None: all
        self.changes = 0  # elements that a launch changes by atomic operations, a power of two, at least
        self.long = False  # whether a launch of few blocks has taken long
        self._left = 0  # launches for which the number of workers holds
        self._trial = _Trial("")

    @property
    def known(self) -> tuple[int | None, int, bool]:
        """What plans follow from."""
        return self.workers, self.changes, self.long

    def note_turns(self, count: int, stayed: int) -> None:
        """A launch whose blocks took turns began with `count` workers and ended with `stayed`."""
        if stayed < count:
            self.workers, self._left = stayed, _KEPT
        else:
            self._count_down()

    def note_changes(self, count: int) -> None:
        """A launch on several threads has changed so many elements that they share."""
        if count > self.changes:
            self.changes = 1 << (count.bit_length() - 1)

    def note_seconds(self, seconds: float) -> None:
        """A launch of few blocks on one thread has taken so long."""
        self.long |= seconds > _LONG

    def note_contention(self, count: int, seconds: float, code: str, *, contended: bool) -> None:
        """A launch on so many workers has taken so long for each block; `code` is what kind of code ran.

        `contended` says that the workers may be in each other's way.
        """
        trial = self._trial
        if trial.code != code:
            self._trial = trial = _Trial(code)
            self.workers = None
        if count == 1 and trial.together < _TRIED:
            return  # there are no more cores
        if count == 1 and trial.alone < _TRIED:
            trial.alone += 1
            trial.seconds_alone = min(trial.seconds_alone, seconds)
            if trial.alone == _TRIED:
                quicker = trial.seconds_alone < trial.seconds_together
                self.workers, self._left = 1 if quicker else None, _LONG_KEPT
        elif count == 1:
            self._count_down()
            if self.workers is None:
                self._trial = _Trial(code)
        elif contended and trial.together < _TRIED:
            trial.together += 1
            trial.seconds_together = min(trial.seconds_together, seconds)
            if trial.together == _TRIED:
                self.workers = 1

    def _count_down(self) -> None:
        if self.workers is not None:
            self._left -= 1
            if not self._left:
                self.workers = None


class _Trial:
    """Launches that compare all workers with one alone: how many, and the fewest seconds for a block."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.together = self.alone = 0
        self.seconds_together = self.seconds_alone = inf
