"""The bench's part of the wiring in lab.py: options in, a bench on a chosen device out."""

from __future__ import annotations

from dataclasses import replace

from . import __version__, devices, lab, source
from .engine.backend import Launch, Outcome
from .engine.cpu import CpuBackend
from .errors import ArgumentError, LaunchError
from .lab_profile import count
from .ladders import find_ladder
from .ladders.trial import Final, Language, Options, Toolchain, Trial
from .measure import Bench, Progress, run_bench
from .profile_record import Profile
from .record import Row

LANGUAGES: dict[str, tuple[Language, ...]] = {
    "cuda": ("cuda",),
    "python": ("python",),
    "both": ("cuda", "python"),
}
# What rows say of a counted rung.
METRICS = (
    *("inst_executed", "gld_efficiency", "gst_efficiency", "gld_transactions", "gst_transactions"),
    *("shared_bank_conflicts", "branch", "branch_efficiency", "warp_execution_efficiency"),
    "theoretical_occupancy",
)
FINALS: dict[str, Final] = {"host": "host", "launch": "launch"}


def bench(
    ladder: str = "reduction",
    *,
    size: int | None = None,
    dtype: str | None = None,
    block: int | None = None,
    language: str = "both",
    device: str = "auto",
    repeat: int = 5,
    rungs: tuple[str, ...] = (),
    final: str = "host",
    as_written: bool = False,
    data: str | None = None,
    seed: int = 0,
    timeout: float = 60.0,
    model: str = "h100",
    counters: bool = False,
    progress: Progress | None = None,
) -> Bench:
    """Run every rung of a ladder, verify each, and return rows, tables and JSON.

    `size` (elements), `dtype` and `block` (threads) replace the sizes of the course notes in all tables.
    `language` is "cuda", "python" or "both". Seconds are the median of `repeat` runs. `final` says where the
    partial results are combined: on the "host" or by a further "launch". With `counters` every rung runs once
    more, on the engine, and its row says how well it uses memory and lanes on the `model` GPU. Raises
    ArgumentError for what the ladder does not take; a rung that fails is a row that is not verified.
    """
    if language not in LANGUAGES:
        raise ArgumentError(f"language {language!r}: one of {', '.join(LANGUAGES)}")
    if final not in FINALS:
        raise ArgumentError(f"final {final!r}: one of {', '.join(FINALS)}")
    options = Options(
        size=size,
        dtype=dtype,
        block=block,
        languages=LANGUAGES[language],
        rungs=tuple(rungs),
        final=FINALS[final],
        as_written=as_written,
        data=data,
        seed=seed,
        timeout=timeout,
    )
    toolchain = Toolchain(open_cuda=source.load, open_python=source.from_numba)
    timed = run_bench(
        ladder,
        options,
        backend=lab.backend(device, model),
        toolchain=toolchain,
        version=__version__,
        repeat=repeat,
        progress=progress,
    )
    return _count(timed, options, toolchain, model, progress) if counters else timed


def _count(
    timed: Bench, options: Options, toolchain: Toolchain, model: str, progress: Progress | None
) -> Bench:
    """Run every rung once more and add what the engine counts; a rung that fails keeps its row as it is."""
    engine = _CountingEngine(model)
    trials = find_ladder(timed.record.ladder).trials(options, engine, toolchain)
    rows: list[Row] = []
    for done, (row, trial) in enumerate(zip(timed.rows, trials, strict=True)):
        if progress is not None:
            progress(done, len(trials), f"counting {row.rung} ({row.language})")
        rows.append(engine.counted(row, trial))
    if progress is not None:
        progress(len(trials), len(trials), "")
    record = replace(timed.record, rows=tuple(rows), counted_for=devices.get(model).name)
    return replace(timed, record=record)


class _CountingEngine(CpuBackend):
    """The engine, which counts every launch made on it."""

    def __init__(self, model: str):
        super().__init__(model)
        self._profiles: list[Profile] = []

    def run(self, launch: Launch) -> Outcome:
        """Count a launch."""
        profile = count(launch, self.model.key, caches=False)
        self._profiles.append(profile)
        return Outcome(profile.seconds, profile.time_label)

    def counted(self, row: Row, trial: Trial) -> Row:
        """The row of a trial with the metrics of its first launch; rows of the host have none."""
        if row.grid is None or row.failure is not None:
            return row
        self._profiles.clear()
        trial.restore()
        try:
            trial.run()
        except LaunchError:
            lab.reset("cpu", self.model.key)
            return row
        first = self._profiles[0]
        return replace(
            row,
            metrics={name: first.metrics[name] for name in METRICS},
            labels={name: first.labels[name] for name in METRICS},
        )
