"""The best configuration found without doing all: a specification's axes as a search space.

    found = wg.tune("tune.toml", "seconds", by=["n"], trials=40)

Belongs here: which cells are worth doing. Optuna proposes them (its tree-structured Parzen estimator), the
executors of sweeps do them, and what is kept in the file of results is not done again. A candidate counts
only if its result is right.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ArgumentError, PackageError
from ..host.processes import refuse_importing
from ..records.spelling import did_you_mean
from ..records.sweep import SweepRecord, SweepRow
from .cell import Cell
from .execution import Executor, executor, results_file, row_of, usual_workers
from .expressions import Value
from .filling import Progress, fill_store
from .spec import Spec, make, read
from .store import Store
from .work import DONE, Outcome, do, longest

__all__ = ["Tuning", "tune"]

_KERNEL = "kernel"  # the parameter that says which [[kernel]] table, where there are several
_TRIES_AT_ONCE = 4  # candidates proposed together, whatever the number of workers, so that runs are alike
_REPEATS = 20  # proposals in a row that were tried before, after which the search goes on in order


@dataclass(frozen=True, slots=True)
class Tuning:
    """What a search found: `best` has a row for each value of the axes tuned for, `record` all tries."""

    number: str
    by: tuple[str, ...]
    best: tuple[SweepRow, ...]
    record: SweepRecord
    space: int  # candidates there are

    @property
    def rows(self) -> tuple[SweepRow, ...]:
        """One row for each candidate that was tried."""
        return self.record.rows


def tune(
    spec: str | Path | Mapping[str, Any],
    number: str,
    *,
    by: Sequence[str] = (),
    trials: int = 40,
    largest: bool = False,
    seed: int = 0,
    results: str | Path | None = None,
    workers: int | None = None,
    dask: str | None = None,
    progress: Progress | None = None,
) -> Tuning:
    """Search the axes of a specification for the least (or largest) `number` of its cells.

    For each combination of values of the axes `by`, up to `trials` candidates are done; where there are no
    more, all are. `number` is what a sweep's rows have: "seconds", or a metric such as the modelled time
    "gpu__time_duration.sum". Each kernel of the specification needs `expect`, unless it is a rung, which
    knows its result: a candidate that is wrong never wins. The other arguments are those of wg.sweep. Raises
    ArgumentError, and PackageError without Optuna.
    """
    refuse_importing("wg.tune")
    if trials < 1:
        raise ArgumentError(f"trials is {trials}; at least 1")
    found = make(spec) if isinstance(spec, Mapping) else read(spec)
    _check(found, number, by)
    groups = itertools.product(*(found.axes[name] for name in by))
    spaces = [_Space(found, dict(zip(by, values, strict=True))) for values in groups]
    tried: dict[str, Cell] = {}
    with (
        executor(do, longest, workers, dask, usual_workers(found)) as execute,
        Store(results_file(spec, found, results)) as store,
    ):
        for space in spaces:
            search = _Search(space, number, largest, seed, store, execute)
            for cell in search.cells(trials, progress, len(tried), trials * len(spaces)):
                tried[cell.key] = cell
        kept = store.get(tried)
    rows = tuple(row_of(cell, kept[key]) for key, cell in tried.items())
    record = SweepRecord(axes=found.names, rows=rows)
    if not any(row.status == DONE and number in row.numbers for row in rows):
        said = next((row.text for row in rows if row.text), f"no candidate has a number {number!r}")
        raise ArgumentError(f"none of {len(rows)} candidates is right; the first: {said}")
    size = sum(space.size for space in spaces)
    return Tuning(number, tuple(by), record.best(number, largest, tuple(by)), record, size)


def _check(spec: Spec, number: str, by: Sequence[str]) -> None:
    for name in by:
        if name not in spec.axes:
            raise ArgumentError(f"there is no common axis {name!r}{did_you_mean(name, list(spec.axes))}")
    for entry in spec.entries:
        if "kernel" in entry and "expect" not in entry:
            raise ArgumentError(
                f"{spec.where.of('kernel')}: {entry['kernel']} has no expect =; a candidate counts only if "
                "its result is right"
            )
    if number == "seconds" and "time" not in spec.settings.do:
        raise ArgumentError(f"{spec.where.of('do')}: seconds need do = ['time']")


class _Space:
    """The candidates for one choice of the axes that are not searched."""

    def __init__(self, spec: Spec, fixed: Mapping[str, Value]):
        self._spec, self._fixed = spec, fixed
        self.axes = [
            {name: values for name, values in {**spec.axes, **entry["axes"]}.items() if name not in fixed}
            for entry in spec.entries
        ]

    @property
    def size(self) -> int:
        """How many there are, those that are skipped included."""
        return sum(math.prod(map(len, axes.values())) for axes in self.axes)

    def all(self) -> Iterator[tuple[Any, ...]]:
        """Every candidate: the number of its table, then a value for each axis."""
        for number, axes in enumerate(self.axes):
            for values in itertools.product(*axes.values()):
                yield number, *values

    def propose(self, trial: Any) -> tuple[Any, ...]:
        """The candidate that an Optuna trial suggests."""
        count = len(self.axes)
        number = trial.suggest_categorical(_KERNEL, list(range(count))) if count > 1 else 0
        axes = self.axes[number]
        prefix = f"{number}." if count > 1 else ""
        return number, *(trial.suggest_categorical(prefix + name, list(axes[name])) for name in axes)

    def cell(self, candidate: tuple[Any, ...]) -> Cell | None:
        """What is to be done for a candidate; None if the specification skips it."""
        number, *values = candidate
        chosen = dict(zip(self.axes[number], values, strict=True))
        entry = self._spec.entries[number]
        order = {**self._spec.axes, **entry["axes"]}
        return self._spec.cell(entry, {name: chosen.get(name, self._fixed.get(name)) for name in order})


class _Search:
    """One study: proposes candidates, has them done, and learns."""

    def __init__(
        self,
        space: _Space,
        number: str,
        largest: bool,
        seed: int,
        store: Store,
        execute: Executor[Cell],
    ):
        self._space, self._number, self._store, self._execute = space, number, store, execute
        self._worst = -math.inf if largest else math.inf
        self._study = _study(largest, seed)
        self._known: dict[tuple[Any, ...], float] = {}

    def cells(self, trials: int, progress: Progress | None, done: int, total: int) -> Iterator[Cell]:
        """Do up to `trials` candidates, and give each."""
        rest = self._space.all()
        exhaustive = self._space.size <= trials
        count = 0
        while count < trials:
            batch = {} if exhaustive else self._proposed(min(_TRIES_AT_ONCE, trials - count))
            if not batch:
                some = list(itertools.islice(rest, min(_TRIES_AT_ONCE, trials - count)))
                if not some:
                    return
                batch = {one: None for one in some if one not in self._known}
            made = {one: cell for one in batch if (cell := self._space.cell(one)) is not None}
            different = list({cell.key: cell for cell in made.values()}.values())
            fill_store(self._store, different, self._execute, tries=1)
            kept = self._store.get(cell.key for cell in made.values())
            for one, trial in batch.items():
                value = self._value(kept.get(made[one].key)) if one in made else self._worst
                self._known[one] = value
                if trial is not None:
                    self._study.tell(trial, value)
            count += len(made)
            for cell in made.values():
                if progress is not None:
                    progress(done + count, total, str(cell))
                yield cell

    def _proposed(self, most: int) -> dict[tuple[Any, ...], Any]:
        """New candidates with their trials; none after many in a row that are known."""
        batch: dict[tuple[Any, ...], Any] = {}
        for _ in range(_REPEATS * most):
            trial = self._study.ask()
            candidate = self._space.propose(trial)
            if candidate in self._known:
                self._study.tell(trial, self._known[candidate])
            elif candidate in batch:
                self._study.tell(trial, state=_failed())
            else:
                batch[candidate] = trial
                if len(batch) == most:
                    break
        return batch

    def _value(self, outcome: Outcome | None) -> float:
        value = outcome.numbers.get(self._number) if outcome is not None and outcome.status == DONE else None
        return float(value) if isinstance(value, (int, float)) else self._worst


def _study(largest: bool, seed: int) -> Any:
    try:
        import optuna
    except ImportError:
        raise PackageError("tuning needs optuna: pip install 'warpglass[sweep]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=8, constant_liar=True)
    return optuna.create_study(direction="maximize" if largest else "minimize", sampler=sampler)


def _failed() -> Any:
    from optuna.trial import TrialState

    return TrialState.FAIL
