"""Find a rung's best parameters on the GPU that is present, and keep them in its ladder's tuned.toml.

    python bench/gpu/tune.py LADDER RUNG [--size 2^24 ...] [--dtype float32 ...] [--write]

Tries every combination of the rung's `space` (tuned.py), all in turns as a bench does, and prints how much
slower than the best each is. What fails or is wrong is left out. With several sizes the best is the one whose
times are nearest to the best of each size, by their geometric mean. `--write` keeps the best rows for the
GPU's compute capability: of each element type, or of all types of so many bytes where they agree.
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from warpglass import lab, source
from warpglass.engine.launch.backend import DeviceBackend
from warpglass.ladders import find_ladder
from warpglass.ladders.measure_device import Measured, measure_on_device
from warpglass.ladders.sampling import Patience
from warpglass.ladders.trial import Card, Options, Timing, Toolchain, Trial, Verdict
from warpglass.ladders.tuned import Parameters, read_tuned, trying, tuned_file
from warpglass.records.argument_text import parse_size

Row = dict[str, Parameters]


class Tried:
    """A trial under other parameters: what runs or is judged happens within `trying`."""

    def __init__(self, trial: Trial, ladder: str, rung: str, parameters: Parameters):
        self._trial = trial
        self._at = ladder, rung, parameters
        self.parameters = parameters

    @property
    def card(self) -> Card:
        """What is known of the trial."""
        return self._trial.card

    @property
    def destroys(self) -> bool:
        """Whether it overwrites its input."""
        return self._trial.destroys

    def start(self, device: DeviceBackend) -> tuple[Timing, Callable[[], object] | None]:
        """Run once with these parameters."""
        with trying(*self._at):
            return self._trial.start(device)

    def run(self) -> Timing:
        """Run once with these parameters."""
        with trying(*self._at):
            return self._trial.run()

    def judge(self) -> Verdict:
        """Judge, by the roundings that these parameters make."""
        with trying(*self._at):
            return self._trial.judge()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._trial, name)


def combinations(space: Mapping[str, Sequence[int]]) -> list[Parameters]:
    """All choices of one value for each parameter."""
    return [dict(zip(space, values, strict=True)) for values in itertools.product(*space.values())]


def tried(ladder: str, rung: str, size: int, dtype: str, device: DeviceBackend) -> Iterator[Trial]:
    """The rung's trial once for every combination."""
    toolchain = Toolchain(open_cuda=source.load, open_python=source.from_numba)
    options = Options(size=size, dtype=dtype, rungs=(rung,), languages=("cuda",), peers=False)
    for parameters in combinations(read_tuned(ladder)[rung]["space"]):
        with trying(ladder, rung, parameters):
            for trial in find_ladder(ladder).trials(options, device, toolchain):
                yield Tried(trial, ladder, rung, parameters)  # pyright: ignore[reportReturnType]


def times(measured: Sequence[Measured]) -> dict[tuple[tuple[str, int], ...], float]:
    """The median of every combination that is right."""
    found: dict[tuple[tuple[str, int], ...], float] = {}
    for one in measured:
        if one.failure is None and one.verdict is not None and one.verdict.verified:
            key = tuple(sorted(one.trial.parameters.items()))  # pyright: ignore[reportAttributeAccessIssue]
            found[key] = float(np.median(one.samples.seconds))
    return found


def best_of(ladder: str, rung: str, dtype: str, sizes: Sequence[int], device: DeviceBackend) -> Parameters:
    """Measure all combinations at all sizes, print them, and return the best."""
    slowdowns: dict[Any, list[float]] = defaultdict(list)
    for size in sizes:
        trials = list(tried(ladder, rung, size, dtype, device))
        patience = Patience(error=0.003, seconds=0.1)
        found = times(measure_on_device(trials, device, device.timer(), patience, lambda done, what: None))
        least = min(found.values())
        for key, seconds in found.items():
            slowdowns[key].append(seconds / least)
        print(
            f"{ladder} {rung} {dtype} {size}: best {1e6 * least:.2f} us, {len(found)} of {len(trials)} right"
        )
    scores = {
        key: math.prod(each) ** (1 / len(each)) for key, each in slowdowns.items() if len(each) == len(sizes)
    }
    for key, score in sorted(scores.items(), key=lambda item: item[1]):
        print(f"  {score:6.3f}  {dict(key)}  {' '.join(f'{one:.3f}' for one in slowdowns[key])}")
    return dict(min(scores, key=lambda key: scores[key]))


def rows_of(best: Mapping[str, Parameters]) -> Row:
    """Rows of tuned.toml: types of one size together where they agree."""
    by_size: dict[int, Row] = defaultdict(dict)
    for dtype, parameters in best.items():
        by_size[np.dtype(dtype).itemsize][dtype] = parameters
    rows: Row = {}
    for size, types in by_size.items():
        same = all(parameters == next(iter(types.values())) for parameters in types.values())
        rows |= {f"{size}_bytes": next(iter(types.values()))} if same else types
    return rows


def with_rows(text: str, rung: str, capability: tuple[int, int], rows: Row) -> str:
    """A tuned.toml with the rows of a rung on a GPU in place of those that it had."""
    head = '[{}."{}.{}"]'.format(rung, *capability)
    kept = re.sub(rf"^{re.escape(head)}\n(?:[^\[\n].*\n|\n)*", "", text, flags=re.MULTILINE).rstrip("\n")
    lines = [
        f"{name} = {{ {', '.join(f'{key} = {value}' for key, value in row.items())} }}"
        for name, row in rows.items()
    ]
    return "\n".join([kept, "", head, *lines]) + "\n"


def main() -> None:
    """Tune one rung."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ladder")
    parser.add_argument("rung")
    parser.add_argument("--size", action="append", type=parse_size)
    parser.add_argument("--dtype", action="append")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    device = lab.backend("gpu")
    assert isinstance(device, DeviceBackend), "a GPU"
    problem = find_ladder(given.ladder).problem
    rung = find_ladder(given.ladder).rung(given.rung)
    table = problem.tables[rung.table]
    sizes = given.size or [table.on_gpu or table.size]
    best = {
        dtype: best_of(given.ladder, given.rung, dtype, sizes, device)
        for dtype in given.dtype or problem.dtypes
    }
    capability = device.capability  # pyright: ignore[reportAttributeAccessIssue]
    path = tuned_file(given.ladder)
    text = with_rows(path.read_text(encoding="utf-8"), given.rung, capability, rows_of(best))
    if given.write:
        path.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
