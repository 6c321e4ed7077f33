"""What launches of a kernel tell about later ones: how many workers are of use, and what they share.

Where blocks mostly wait for their turns, more workers take longer than one: each takes the cache lines from
the others. They leave such a launch early (codegen/control/turns.py), and later ones begin with those that
stayed. Where workers contend for what they all change, copies for each of them take long, or a launch is
brief, one worker is tried, and kept if it is quicker. How often workers change elements that they share says
what it is worth to keep arrays apart (privatisation.py). Few blocks are worth more than one worker only if
they take long.
"""

from __future__ import annotations

from math import inf

# Launches for which it holds that workers have left one, and that one alone is quicker than all.
_KEPT, _LONG_KEPT = 64, 1024
# Launches of which the quickest counts: of all workers, and of one.
_TRIED = 3
# What a trial has found holds for launches of so many times the blocks, if they do not take as much longer.
_LONGER = 2
# Seconds of a launch on one thread for which no other is woken, even one that is still awake.
_MOMENT = 20e-6
# Seconds that a launch must take for workers to be woken for a few blocks each.
_LONG = 0.5e-3
# Seconds that one thread must take for a launch to be watched on several: to prepare them takes some 0.2 ms
# for each.
_DIVIDED = 4e-3


class Experience:
    """What launches of one kernel have found."""

    def __init__(self) -> None:
        self.workers: int | None = None  # that are of use; None: all
        self.changes = 0  # elements that a launch changes by atomic operations, a power of two, at least
        self.long = False  # whether a launch of few blocks has taken long
        self.divides = True  # whether it is worth rehearsing launches that are watched (rehearsal.py)
        self._in_vain = False
        self._left = 0  # launches for which the number of workers holds
        self._trial = _Trial("", inf)  # where blocks take turns, their number does not matter

    @property
    def known(self) -> tuple[int | None, int, bool]:
        """What plans follow from."""
        return self.workers, self.changes, self.long

    @property
    def tries_one(self) -> bool:
        """Whether launches on one thread are compared with others on all."""
        return self._trial.together == _TRIED

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

    def note_rehearsal(self, seconds: float | None) -> None:
        """A rehearsal has taken all threads together so long; None: it was in vain."""
        self._in_vain |= seconds is None
        self.note_watched(seconds or 0.0)

    def note_watched(self, seconds: float) -> None:
        """A launch that was watched has taken one thread so long."""
        self.divides = seconds > _DIVIDED and not self._in_vain

    def workers_for(self, blocks: int) -> int | None:
        """How many workers are of use to a launch of so many blocks; None: all."""
        return self.workers if blocks <= self._trial.most_blocks else None

    def note_contention(self, count: int, blocks: int, seconds: float, code: str, *, contended: bool) -> None:
        """A launch of so many blocks on so many workers has taken so long; `code` is what kind of code ran.

        `contended` says that the workers may be in each other's way.
        """
        trial = self._trial
        if trial.code != code:
            self._trial = trial = _Trial(code)
            self.workers = None
        if count == 1 and trial.together == _TRIED:
            if trial.alone < _TRIED:
                trial.note_alone(seconds / blocks, seconds)
                if trial.alone == _TRIED:
                    quicker = trial.seconds_alone < trial.seconds_together or trial.shortest < _MOMENT
                    self.workers, self._left = 1 if quicker else None, _LONG_KEPT
                return
            self._count_down()
            late, trial.late = trial.late, seconds > _LONGER * trial.longest
            if self.workers is None or (late and trial.late):  # once it may be another process
                self._trial, self.workers = _Trial(code), None
        elif count > 1 and contended and trial.together < _TRIED:
            trial.note_together(seconds / blocks, blocks)
            if trial.together == _TRIED:
                self.workers = 1
        elif count > 1 and trial.alone == _TRIED:  # all have been quicker
            self._left -= 1
            if not self._left:
                self._trial = _Trial(code)

    def _count_down(self) -> None:
        if self.workers is not None:
            self._left -= 1
            if not self._left:
                self.workers = None


class _Trial:
    """Launches that compare all workers with one alone: how many, and the fewest seconds for a block.

    What they find holds for launches of `most_blocks`, none of which takes much more than the `longest` of
    one alone.
    """

    def __init__(self, code: str, most_blocks: float = 0) -> None:
        self.code = code
        self.together = self.alone = 0
        self.seconds_together = self.seconds_alone = inf
        self.most_blocks = most_blocks
        self.longest, self.shortest = 0.0, inf  # seconds of one alone
        self.late = False  # whether the last one alone took longer than what has been found holds for

    def note_together(self, each: float, blocks: int) -> None:
        """All workers have taken so long for each of so many blocks."""
        self.together += 1
        self.seconds_together = min(self.seconds_together, each)
        self.most_blocks = max(self.most_blocks, _LONGER * blocks)

    def note_alone(self, each: float, seconds: float) -> None:
        """One worker has taken so long for each block, and for all."""
        self.alone += 1
        self.seconds_alone = min(self.seconds_alone, each)
        self.longest, self.shortest = max(self.longest, seconds), min(self.shortest, seconds)
