"""Timing a ladder: every trial is warmed up, repeated and judged, and becomes a row.

Belongs here: the order of restore, run and judge on the engine; rows and speedups. It knows neither the
ladder (which gives it trials) nor the device (a Backend is handed in), and prints nothing. A GPU is
measured by measure_device.py.

On the engine each repeat starts from the restored input and is judged on its own: a kernel with a race may be
wrong only sometimes. The worst error is kept.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from ..engine.launch.backend import Backend, DeviceBackend, Timer
from ..errors import ArgumentError, CompileError, LaunchError
from ..records.bench import Record, Row
from ..records.display import Displayed
from . import find_ladder
from .measure_device import Measured, measure_on_device, with_host_time
from .rung import Rung
from .sampling import Patience, noise_of
from .trial import Card, Options, Timing, Toolchain, Trial, Verdict
from .view import Section, View, no_view

Progress = Callable[[int, int, str], None]  # trials done, trials in all, what runs next


@dataclass(frozen=True, slots=True, repr=False)
class Bench(Displayed):
    """The outcome of a bench: a record and its usual views."""

    record: Record
    rungs: tuple[Rung, ...]  # what ran, with its explanations
    view: View = no_view  # the ladder's own

    def __repr__(self) -> str:
        """One line; `table()` has the tables."""
        right = f"{sum(row.verified for row in self.rows)} of {len(self.rows)} rows right"
        return f"<Bench of {self.record.ladder}: {right}, on {self.record.device}>"

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row per rung and language."""
        return self.record.rows

    @property
    def verified(self) -> bool:
        """Whether every rung is right; the as-written ones, which show defects, do not count."""
        return all(row.verified for row in self.rows if not row.as_written)

    @property
    def sections(self) -> Sequence[Section]:
        """What the ladder's own view has to say below the tables."""
        return self.view(self.record)

    def table(self, width: int = 120) -> str:
        """The tables of the report as plain text, `width` columns wide."""
        from ..report.bench import render_text  # rich is needed only here

        return render_text(self.record, width, self.sections)

    def to_json(self) -> str:
        """The record as JSON text."""
        return self.record.to_json()


Interrupted = Callable[[Bench], None]  # what is done when Ctrl-C ends a bench


def run_bench(
    ladder: str,
    options: Options,
    *,
    backend: Backend,
    toolchain: Toolchain,
    version: str,
    repeat: int = 5,
    transfers: bool = False,
    progress: Progress | None = None,
    interrupted: Interrupted | None = None,
) -> Bench:
    """Run the selected rungs of a ladder and return their rows, failed ones included.

    With `transfers` the seconds include copying inputs to the device and results back. On a GPU `repeat` is
    the least number of samples; there are more until the median is known. Ctrl-C ends it; `interrupted` is
    told before what is done, if there is any. Raises ArgumentError for options that the ladder refuses,
    before anything runs.
    """
    if repeat < 1:
        raise ArgumentError(f"repeat {repeat}: at least 1")
    found = find_ladder(ladder)
    timer = backend.timer() if isinstance(backend, DeviceBackend) else None
    if progress is not None and timer is not None:
        progress(0, 1, "making the inputs")
    trials = found.trials(options, backend, toolchain)
    tried = {trial.card.rung for trial in trials}
    rungs = tuple(rung for rung in found.rungs(options) if rung.name in tried)
    rows: list[Row] = []
    peers: list[Row] = []

    def done_so_far() -> Bench:
        record = Record(
            ladder=ladder,
            device=backend.description,
            backend=backend.name,
            version=version,
            rows=add_speedups(rows),
            peers=tuple(peers),
            transfers=transfers,
            explanations={rung.name: rung.explanation for rung in rungs},
            unwatched=timer.unwatched if timer else "",
        )
        return Bench(record, rungs, found.problem.view)

    try:
        measured = (
            _on_device(trials, backend, timer, repeat, progress)
            if timer is not None and isinstance(backend, DeviceBackend)
            else _one_by_one(trials, backend, repeat, progress)
        )
        for trial, row in measured:
            (peers if trial.card.peer else rows).append(_with_transfers(row) if transfers else row)
    except KeyboardInterrupt:
        if rows and interrupted is not None:
            interrupted(done_so_far())
        raise
    if progress is not None:
        progress(len(trials), len(trials), "")
    return done_so_far()


def _one_by_one(
    trials: Sequence[Trial], backend: Backend, repeat: int, progress: Progress | None
) -> Iterator[tuple[Trial, Row]]:
    for done, trial in enumerate(trials):
        if progress is not None:
            progress(done, len(trials), f"{trial.card.rung} ({trial.card.language})")
        yield trial, _measure(trial, backend, repeat)


def _on_device(
    trials: Sequence[Trial], device: DeviceBackend, timer: Timer, repeat: int, progress: Progress | None
) -> Iterator[tuple[Trial, Row]]:
    """The trials of each table together, in turns; apart from them those whose defects may end it all."""
    before = 0
    for _, group in groupby(trials, key=lambda trial: (trial.card.table, trial.card.as_written)):
        table = tuple(group)

        def report(done: int, what: str, before: int = before) -> None:
            if progress is not None:
                progress(before + done, len(trials), what)

        for measured in measure_on_device(table, device, timer, Patience(least=repeat), report):
            yield measured.trial, _device_row(measured)
        before += len(table)


def _device_row(measured: Measured) -> Row:
    card = measured.trial.card
    if measured.failure is not None:
        return _row(card, [], None, measured.failure)
    seconds, clock = with_host_time(measured), measured.clock
    timings = [replace(measured.timings[0], seconds=one) for one in seconds]
    row = _row(card, timings, measured.verdict, None, measured.transfer)
    if timings[0].launched:  # tuned parameters may have changed it
        shape = timings[0].launched[0].shape
        row = replace(row, grid=shape.grid, block=shape.block, shared=shape.shared)
    return replace(
        row,
        copied=measured.copied,
        noise=noise_of(seconds),
        in_a_row=measured.in_a_row,
        clock_mhz=clock.mhz if clock else None,
        held_back_by=clock.held_back_by if clock else (),
    )


def _with_transfers(row: Row) -> Row:
    """Add what travels to the time, and to all that follows from the time."""
    if row.seconds is None or not row.transfer_seconds:
        return row
    seconds = row.seconds + row.transfer_seconds
    longer = row.seconds / seconds
    return replace(
        row,
        seconds=seconds,
        gb_per_s=row.gb_per_s * longer if row.gb_per_s else row.gb_per_s,
        gflop_per_s=row.gflop_per_s * longer if row.gflop_per_s else row.gflop_per_s,
    )


@dataclass(frozen=True, slots=True)
class Forecast:
    """How long a bench will take, from times at the tables' own sizes."""

    sizes: tuple[tuple[int, int], ...]  # of each table: asked for, and timed here
    rungs: tuple[tuple[str, str, float], ...]  # name, language, seconds of one run
    runs: int  # of each rung

    @property
    def seconds(self) -> float:
        """All runs of all rungs."""
        return self.runs * sum(seconds for _, _, seconds in self.rungs)


def foresee(
    ladder: str, options: Options, *, backend: Backend, toolchain: Toolchain, runs: int
) -> Forecast | None:
    """Time every rung at its table's own size and say how long `runs` runs at the size asked for will take.

    None where that is not needed: no size is asked for, the ladder's work does not grow faster than its size,
    or the sizes are no larger than the usual ones. A rung that fails here, or will, is left out.
    """
    found = find_ladder(ladder)
    work = found.problem.work
    if work is None or options.size is None:
        return None
    pairs = zip(
        found.trials(options, backend, toolchain),
        found.trials(replace(options, size=None), backend, toolchain),
        strict=True,
    )
    larger = [(wanted, usual) for wanted, usual in pairs if wanted.card.size > usual.card.size]
    seconds = [
        (usual.card.rung, usual.card.language, timed * work(wanted.card.size) / work(usual.card.size))
        for wanted, usual in larger
        if (timed := _measure(usual, backend, 1).seconds) is not None
    ]
    sizes = dict.fromkeys((wanted.card.size, usual.card.size) for wanted, usual in larger)
    return Forecast(tuple(sizes), tuple(seconds), runs) if seconds else None


def add_speedups(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Fill in step and cumulative speedups; the first timed kernel of a table and language is the base."""
    first: dict[tuple[str, bool, str], float] = {}
    last: dict[tuple[str, bool, str], float] = {}
    filled: list[Row] = []
    for row in rows:
        if row.seconds is None or row.grid is None:
            filled.append(row)
            continue
        key = (row.table, row.as_written, row.language)
        base, previous = first.setdefault(key, row.seconds), last.get(key, row.seconds)
        last[key] = row.seconds
        step, cumulative = _ratio(previous, row.seconds), _ratio(base, row.seconds)
        filled.append(replace(row, step_speedup=step, cumulative_speedup=cumulative))
    return tuple(filled)


def _measure(trial: Trial, backend: Backend, repeat: int) -> Row:
    timings: list[Timing] = []
    verdicts: list[Verdict] = []
    try:
        for _ in range(1 + repeat):  # the first compiles and warms up
            trial.restore()
            backend.flush_caches()
            timings.append(trial.run())
            verdicts.append(trial.judge())
    except (LaunchError, CompileError) as problem:
        if isinstance(problem, LaunchError):
            trial.recover()
        return _row(trial.card, [], None, str(problem))
    worst = max(verdicts, key=lambda verdict: (not verdict.verified, verdict.error))
    row = _row(trial.card, timings[1:], worst, None, trial.transfer())
    return replace(row, copied=trial.copied())


def _row(
    card: Card,
    timings: Sequence[Timing],
    verdict: Verdict | None,
    failure: str | None,
    transfer_seconds: float | None = None,
) -> Row:
    repeats = tuple(timing.seconds for timing in timings)
    seconds = statistics.median(repeats) if repeats else None
    shape = card.shape
    return Row(
        rung=card.rung,
        language=card.language,
        kernel=card.kernel,
        table=card.table,
        title=card.title,
        as_written=card.as_written,
        size=card.size,
        dtype=card.dtype,
        grid=shape.grid if shape else None,
        block=shape.block if shape else None,
        shared=shape.shared if shape else None,
        final=card.final,
        label=timings[0].label if timings else None,
        seconds=seconds,
        repeats=repeats,
        size_text=card.size_text,
        transfer_seconds=transfer_seconds,
        launches=len(timings[0].launched) if timings else 0,
        unoptimised=any(one.unoptimised for timing in timings for one in timing.launched),
        gb_per_s=_ratio(card.ideal_bytes / 1e9, seconds),
        gflop_per_s=_ratio(card.ideal_flops / 1e9, seconds),
        step_speedup=None,
        cumulative_speedup=None,
        sum=verdict.result if verdict and verdict.index is None else None,
        expected=verdict.expected if verdict else None,
        error=verdict.error if verdict else None,
        bound=verdict.bound if verdict else None,
        verified=verdict is not None and verdict.verified,
        result=verdict.result if verdict else None,
        array=verdict.array if verdict else None,
        index=verdict.index if verdict else None,
        wrong=verdict.wrong if verdict else 0,
        failure=failure,
    )


def _ratio(numerator: float, denominator: float | None) -> float | None:
    """Quotient, or None where there is no time (a clock too coarse for an empty array included)."""
    return numerator / denominator if denominator else None
