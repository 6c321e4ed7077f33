"""Timing the trials of one table on a GPU: in turns, on the device's clock, until each median is known.

Belongs here: the order of first runs, warming up, rounds and verdicts. A round gives every contestant, rung
or library, some samples, so that whatever changes meanwhile changes for all. Every round begins with a run
that is judged. Samples taken while something held the clock back, or while it changed, are thrown away, a few
times. Kernels under SHORT are timed in a row, because the events alone take a microsecond or two: then all of
the table are, with warm caches, for the sake of comparison.

What the host computes is measured before, by its own clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

from ..engine.launch.backend import Clock, DeviceBackend, Timer
from ..errors import CompileError, LaunchError
from .sampling import Patience, Samples
from .trial import Timing, Trial, Verdict

SHORT = 10e-6  # seconds under which runs are timed in a row
_IN_A_ROW = 100e-6  # seconds that a row of them takes at least
_FEWEST, _MOST = 10, 1000  # runs in a row
_WARM_UP = 0.3  # seconds until clocks have risen
_CHANGE = 0.02  # of the clock, within a round: more and the round is thrown away
_DISCARDS = 3  # rounds thrown away for each contestant

Report = Callable[[int, str], None]  # contestants done, what runs now


@dataclass(slots=True)
class Measured:
    """What is known of one trial in the end."""

    trial: Trial
    samples: Samples
    timings: list[Timing] = field(default_factory=list[Timing])
    verdicts: list[Verdict] = field(default_factory=list[Verdict])
    failure: str | None = None
    alone: bool = False  # samples are of whole runs, with what the host does in them
    in_a_row: int = 1
    clock: Clock | None = None
    discarded: int = 0
    transfer: float | None = None  # seconds of copying there and back
    copied: tuple[int, int] | None = None  # bytes of that

    @property
    def verdict(self) -> Verdict | None:
        """The worst."""
        return max(self.verdicts, key=lambda one: (not one.verified, one.error), default=None)


class _Contestant:
    """One trial with what measures it."""

    def __init__(self, trial: Trial, device: DeviceBackend, timer: Timer, patience: Patience):
        self.measured = Measured(trial, Samples(patience))
        self.submit: Callable[[], object] | None = None
        self.trial = trial
        self._device = device
        self._timer = timer
        self._stopwatch = timer.stopwatch()
        self._stale = False  # a device that was reset has lost what would be submitted again

    @property
    def active(self) -> bool:
        """Whether it needs more samples."""
        return self.measured.failure is None and not self.measured.samples.enough

    @property
    def seconds(self) -> float:
        """The median so far, of the device alone."""
        return median(self.measured.samples.seconds)

    def lose(self) -> None:
        """The arrays are gone: somebody's failure has had the device reset."""
        self._timer = self._device.timer()
        self._stopwatch = self._timer.stopwatch()
        self._stale = True

    def refresh(self) -> None:
        """Run once more if what would be submitted again is lost."""
        if self._stale:
            self.judged_run()

    def judged_run(self) -> None:
        """Run once from restored arrays and judge the result; a failure ends it."""
        self._stale = False
        with self._failing():
            self.trial.restore()
            timing, self.submit = self.trial.start(self._device)
            self.measured.timings.append(timing)
            self.measured.verdicts.append(self.trial.judge())

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """A failure within ends the trial, and the device is made usable again."""
        try:
            yield
        except (LaunchError, CompileError) as problem:
            if isinstance(problem, LaunchError):
                self.trial.recover()
            self.measured.failure = str(problem)

    def sample(self) -> None:
        """Take one round of samples, after a judged run."""
        if self.measured.samples.seconds or self._stale:
            self.judged_run()
        if self.measured.failure is not None:
            return
        with self._failing():
            self._take(self.measured.samples)

    def _take(self, samples: Samples) -> None:
        began = time.perf_counter()
        before = self._timer.clock()
        taken = [self._one() for _ in range(samples.wanted)]
        after = self._timer.clock()
        samples.spent += time.perf_counter() - began
        if after is not None and _disturbed(before, after) and self.measured.discarded < _DISCARDS:
            self.measured.discarded += 1
            return
        self.measured.clock = after
        samples.seconds += taken

    def _one(self) -> float:
        assert self.submit is not None, "others are measured alone"
        if self.trial.destroys:
            self.trial.rewind()
        return self._stopwatch.time(self.submit, self.measured.in_a_row)

    def copy(self) -> None:
        """Measure what travels between host and device."""
        if self.measured.failure is None:
            with self._failing():
                self.measured.transfer, self.measured.copied = self.trial.transfer(), self.trial.copied()

    def run_alone(self, judged: bool) -> None:
        """A sample of a run as it stands."""
        with self._failing():
            samples, began = self.measured.samples, time.perf_counter()
            self.trial.restore()
            samples.seconds.append(self.trial.run().seconds)
            samples.spent += time.perf_counter() - began
            if judged:
                self.measured.verdicts.append(self.trial.judge())

    def begin_again(self, in_a_row: int) -> None:
        """Forget the samples, and time so many runs in a row from now on."""
        patience = self.measured.samples.patience
        self.measured.samples = Samples(patience)
        self.measured.in_a_row = in_a_row


def _disturbed(before: Clock | None, after: Clock) -> bool:
    """Whether something held the clock back, or it changed."""
    changed = before is not None and abs(after.mhz - before.mhz) > _CHANGE * max(after.mhz, 1)
    return bool(after.held_back_by) or changed


def measure_on_device(
    trials: Sequence[Trial], device: DeviceBackend, timer: Timer, patience: Patience, report: Report
) -> list[Measured]:
    """Measure the trials of one table, which share its arrays; returns them in their order.

    `report` is told how many are done and what runs. The device's arrays are given back in the end.
    """
    contestants = [_Contestant(trial, device, timer, patience) for trial in trials]
    for done, one in enumerate(contestants):
        card = one.trial.card
        report(done, f"{card.rung} ({card.language})")
        one.judged_run()
        if one.measured.failure is not None:
            for other in contestants:
                other.lose()
        elif one.submit is None:
            _measure_alone(one)
    racing = [one for one in contestants if one.submit is not None and one.measured.failure is None]
    _race(racing, device.timer(), lambda done: report(len(contestants) - len(racing) + done, "rounds of all"))
    for one in contestants:
        one.copy()
    for one in contestants:
        one.trial.release()
    return [one.measured for one in contestants]


def _measure_alone(one: _Contestant) -> None:
    """Samples of what the host computes, or decides; judged once more where it can have changed."""
    measured = one.measured
    measured.alone, on_host = True, measured.timings[0].label == "host"
    if on_host and measured.timings[0].seconds > measured.samples.patience.seconds:
        measured.samples.seconds.append(measured.timings[0].seconds)
    while not measured.samples.enough and measured.failure is None:
        one.run_alone(judged=not on_host)


def _race(racing: Sequence[_Contestant], timer: Timer, report: Callable[[int], None]) -> None:
    """Rounds of samples until everybody has enough."""
    for one in racing:
        one.refresh()
    timer.warm_up([one.submit for one in racing if one.submit], _WARM_UP)
    _round(racing, racing)
    _choose_rows([one for one in racing if one.measured.samples.seconds])
    while active := [one for one in racing if one.active]:
        report(len(racing) - len(active))
        _round(active, racing)
    for one in racing:
        if one.measured.failure is None:
            one.judged_run()


def _round(active: Sequence[_Contestant], racing: Sequence[_Contestant]) -> None:
    """Samples of all that need more."""
    for one in active:
        one.sample()
        if one.measured.failure is not None:
            for other in racing:
                other.lose()


def _choose_rows(racing: Sequence[_Contestant]) -> None:
    """Time runs in a row where one of them is short, unless runs destroy what they work on."""
    if not racing or min(one.seconds for one in racing) >= SHORT:
        return
    if any(one.trial.destroys for one in racing):
        return
    for one in racing:
        times = int(_IN_A_ROW / one.seconds) if one.seconds else _MOST
        one.begin_again(min(_MOST, max(_FEWEST, times)))


def with_host_time(measured: Measured) -> tuple[float, ...]:
    """The samples, each with what the host computes for one run."""
    host = 0.0 if measured.alone else median(timing.host_seconds for timing in measured.timings)
    return tuple(one + host for one in measured.samples.seconds)
