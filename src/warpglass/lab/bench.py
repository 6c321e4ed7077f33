"""The bench's part of the wiring: options in, a bench on a chosen device out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from .. import __version__, devices, lab, source
from ..engine.cpu.backend import CpuBackend
from ..engine.cpu.tiers import OPTIMISED, only
from ..engine.gpu.backend import GpuBackend
from ..engine.launch.backend import Backend, Launch, Outcome
from ..errors import ArgumentError, CompileError, LaunchError
from ..ladders import find_ladder
from ..ladders.measure import Bench, Forecast, Interrupted, Progress, foresee, run_bench
from ..ladders.trial import Final, Language, Options, Toolchain, Trial
from ..models.roofline import Peaks, Work, peaks_of, place
from ..records.bench import Row
from ..records.kernel_time import ModelledTime
from ..records.profile import Profile
from ..records.work import CountedWork, work_together
from .kernel_time import add_modelled_speedups, together
from .profile import count

LANGUAGES: dict[str, tuple[Language, ...]] = {
    "cuda": ("cuda",),
    "python": ("python",),
    "both": ("cuda", "python"),
}
# What rows say of a counted rung, and what a share is a share of: how shares of several launches combine.
COUNTS = (
    *("inst_executed", "gld_transactions", "gst_transactions", "atomic_transactions"),
    *("global_load_requests", "gld_requested_bytes"),
    *("shared_load_transactions", "shared_store_transactions", "shared_bank_conflicts", "branch"),
)
SHARES = {
    "gld_efficiency": "gld_transactions",
    "gst_efficiency": "gst_transactions",
    "branch_efficiency": "branch",
    "warp_execution_efficiency": "inst_executed",
    "theoretical_occupancy": "inst_executed",
}
CERTAINTY = ("measured", "exact", "ptx-level", "modelled")
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
    model: str | Sequence[str] = "h100",
    counters: bool | None = False,
    small: bool = False,
    peers: bool = True,
    transfers: bool = False,
    added: tuple[tuple[Path, str], ...] = (),
    options: Sequence[str] = (),
    progress: Progress | None = None,
    announce: Callable[[Forecast], None] | None = None,
    interrupted: Interrupted | None = None,
) -> Bench:
    """Run every rung of a ladder, verify each, and return rows, tables and JSON.

    `size` (elements), `dtype` and `block` (threads) replace the sizes of the course notes in all tables.
    `language` is "cuda", "python" or "both". Seconds are the median of `repeat` runs. `final` says where the
    partial results are combined: on the "host" or by a further "launch". With `counters` every rung runs once
    more, on the engine, and its row says how well it uses memory and lanes on the `model` GPU, and how long
    it would take there by the model of kernel times; of several `model`s the others have times only. None
    counts where times are the engine's: a GPU's sizes keep the engine busy for minutes. `small`
    takes sizes that take milliseconds, where no size is given. `peers` adds what libraries take, `added` the
    user's own kernels (file and name) with the parameters of the ladder's; `transfers` puts the copies to a
    GPU and back into its times; `options` go to the compiler of CUDA C++. Where a size takes far longer than
    the usual one, `announce` is told first how long. Ctrl-C ends it, and `interrupted` is told before what is
    done. Raises ArgumentError for what the ladder does not take; a rung that fails is a row that is not
    verified.
    """
    if language not in LANGUAGES:
        raise ArgumentError(f"language {language!r}: one of {', '.join(LANGUAGES)}")
    if final not in FINALS:
        raise ArgumentError(f"final {final!r}: one of {', '.join(FINALS)}")
    chosen = Options(
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
        small=small,
        peers=peers,
        added=tuple(added),
    )
    toolchain = Toolchain(
        open_cuda=partial(source.load, options=tuple(options)),
        open_python=source.from_numba,
        open_own=source.load,
    )
    models = (model,) if isinstance(model, str) else tuple(model)
    backend = lab.backend(device, models[0])
    if counters is None:
        counters = backend.name != "gpu"
    if announce is not None:
        runs = 1 + repeat + counters  # the first warms up
        forecast = foresee(ladder, chosen, backend=backend, toolchain=toolchain, runs=runs)
        if forecast is not None:
            announce(forecast)
    with only(OPTIMISED):
        timed = run_bench(
            ladder,
            chosen,
            backend=backend,
            toolchain=toolchain,
            version=__version__,
            repeat=repeat,
            transfers=transfers,
            progress=progress,
            interrupted=interrupted,
        )
    rows, rivals = (_with_shares(part, backend) for part in (timed.rows, timed.record.peers))
    timed = replace(timed, record=replace(timed.record, rows=rows, peers=rivals))
    try:
        return _count(timed, chosen, toolchain, models, progress) if counters else timed
    except KeyboardInterrupt:
        if interrupted is not None:
            interrupted(timed)
        raise


def _with_shares(rows: Sequence[Row], backend: Backend) -> tuple[Row, ...]:
    """How near a GPU's times come to what its roofline allows for the ideal bytes and operations."""
    if not isinstance(backend, GpuBackend):
        return tuple(rows)
    try:
        peaks = peaks_of(devices.get(backend.device_name))
    except devices.UnknownDevice:
        return tuple(rows)
    return tuple(replace(row, share_of_peak=_share(row, peaks)) for row in rows)


def _share(row: Row, peaks: Peaks) -> float | None:
    if row.seconds is None or row.gb_per_s is None or row.gflop_per_s is None:
        return None
    precision = {"float64": "fp64", "float32": "fp32", "float16": "fp16"}.get(row.dtype)
    flops = {precision: row.gflop_per_s * 1e9 * row.seconds} if precision else {}
    work = Work(row.rung, flops, {"dram": row.gb_per_s * 1e9 * row.seconds}, row.seconds, row.label or "")
    placed = place(work, peaks)
    return placed.share_of_roof if placed else None


def _count(
    timed: Bench, options: Options, toolchain: Toolchain, models: Sequence[str], progress: Progress | None
) -> Bench:
    """Run every rung once more for each GPU, and add what the engine counts; one that fails keeps its row."""
    rows = list(timed.rows)
    same = replace(options, peers=False, gpu_sizes=timed.record.backend == "gpu")
    for number, model in enumerate(models):
        engine = _CountingEngine(model)
        trials = find_ladder(timed.record.ladder).trials(same, engine, toolchain)
        for done, (row, trial) in enumerate(zip(rows, trials, strict=True)):
            if progress is not None:
                progress(done, len(trials), f"counting {row.rung} ({row.language}) for {engine.model.name}")
            rows[done] = engine.counted(row, trial, times_only=number > 0)
        if progress is not None:
            progress(len(trials), len(trials), "")
    timed_rows = add_modelled_speedups(rows)
    record = replace(timed.record, rows=timed_rows, counted_for=devices.get(models[0]).name)
    return replace(timed, record=record)


class _CountingEngine(CpuBackend):
    """The engine, which counts the launches made on it.

    A host program may launch one kernel many times. The first launch of a shape is counted and stands for the
    others: their sums are then labelled as modelled.
    """

    def __init__(self, model: str):
        super().__init__(model)
        self._profiles: dict[Hashable, Profile] = {}
        self._launches: Counter[Hashable] = Counter()

    def run(self, launch: Launch) -> Outcome:
        """Run a launch, and count it if it is the first of its kernel and shape."""
        key = (launch.compiled.name, launch.grid, launch.block, launch.shared)
        self._launches[key] += 1
        if key in self._profiles:
            return super().run(launch)
        profile = count(launch, self.model.key)
        self._profiles[key] = profile
        return Outcome(profile.seconds, profile.time_label)

    def counted(self, row: Row, trial: Trial, *, times_only: bool = False) -> Row:
        """The row of a trial with metrics and times of its launches together; rows of the host have none."""
        if row.grid is None or row.failure is not None:
            return row
        self._profiles.clear()
        self._launches.clear()
        trial.restore()
        try:
            trial.run()
        except (LaunchError, CompileError):  # what a GPU ran the engine may refuse
            lab.reset("cpu", self.model.key)
            return row
        row = replace(row, modelled=(*row.modelled, self._time()))
        if times_only:
            return row
        metrics, labels = self._sum()
        return replace(row, metrics=metrics, labels=labels, work=self._work())

    def _time(self) -> ModelledTime:
        """The modelled time of all launches."""
        parts = [(one.modelled, self._launches[key]) for key, one in self._profiles.items() if one.modelled]
        return together(parts)

    def _work(self) -> CountedWork:
        """The work of all launches."""
        parts = [(one.work, self._launches[key]) for key, one in self._profiles.items() if one.work]
        return work_together(parts)

    def _sum(self) -> tuple[dict[str, float], dict[str, str]]:
        parts = [(self._profiles[key], times) for key, times in self._launches.items()]
        metrics = {name: sum(part.metrics[name] * times for part, times in parts) for name in COUNTS}
        for name, whole in SHARES.items():
            shares = [(part.metrics[name], part.metrics[whole] * times) for part, times in parts]
            weight = sum(weight for _, weight in shares)
            metrics[name] = sum(share * part for share, part in shares) / weight if weight else 0.0
        repeated = any(times > 1 for _, times in parts)
        labels = {
            name: max((part.labels[name] for part, _ in parts), key=CERTAINTY.index)
            if not repeated or name == "theoretical_occupancy"
            else "modelled"
            for name in metrics
        }
        return metrics, labels
