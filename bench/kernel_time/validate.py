"""Judge the model of kernel times by launches that were measured on a GPU.

    python bench/kernel_time/validate.py record BUNDLE.json            # here: what is to be measured
    python bench/kernel_time/measure.py BUNDLE.json --json TIMES.json  # on the machine with the GPU
    python bench/kernel_time/validate.py predict MODELLED.json --model h200
    python bench/kernel_time/validate.py judge TIMES.json MODELLED.json

Launches are those of all ladders at three sizes in both languages, the first of each kernel and shape, and
those of cases.py. `predict` counts them for a GPU, on any machine; that and `record` take minutes. `judge`
prints the mean error of each ladder, the steps in the wrong order and the worst cases.
"""

from __future__ import annotations

import argparse
import base64
import ctypes
import hashlib
import json
import math
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.kernel_time import figures
from bench.kernel_time.cases import CASES
from warpglass import lab, source
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.gpu.driver import header_of
from warpglass.engine.launch.arguments import Binder, Reference, pack
from warpglass.engine.launch.backend import Launch, Outcome
from warpglass.engine.launch.parameters import parameters_of
from warpglass.errors import WarpglassError
from warpglass.lab import kernel_time
from warpglass.lab.profile import count
from warpglass.ladders import find_ladder
from warpglass.ladders.trial import Options, Toolchain
from warpglass.models.kernel_time import Load
from warpglass.observe.kernel_load import kernel_load

SIZES = {
    **{"conv1d": (2**18, 2**20, 2**23), "conv2d": (512, 1024, 2048), "dot": (2**18, 2**20, 2**23)},
    **{"histogram": (2**18, 2**20, 2**22), "image": (304, 1216, 2432), "matmul": (256, 512, 1024)},
    **{"oddeven_sort": (2048, 4096, 16384), "reduction": (2**18, 2**21, 2**24)},
    **{"scan": (2**17, 2**20, 2**23), "sort": (2**15, 2**18, 2**20)},
    **{"transpose": (512, 1024, 4096), "vector": (2**18, 2**21, 2**24)},
}
Watch = Callable[[str, Launch], None]


class _Watched(CpuBackend):
    """The engine, which shows launches before it makes them."""

    watch: Callable[[Launch], None] | None = None

    def run(self, launch: Launch) -> Outcome:
        """Show a launch, and make it."""
        if self.watch is not None:
            self.watch(launch)
        return super().run(launch)


def all_launches(watch: Watch) -> None:
    """Call `watch` with a name and each launch, its arguments as they are then."""
    here = Path(__file__).with_name("validation.cu")
    seen = Counter[str]()
    for case in CASES:
        seen[case.kernel] += 1
        kernel = lab.load(here, case.kernel)
        place = lab.backend("cpu", "h100")
        launch = lab.make_launch(kernel, case.grid, case.block, case.values(), 0, 600, place)
        watch(f"validation/{case.kernel}/{seen[case.kernel]}", launch)
    for ladder, sizes in SIZES.items():
        for size in sizes:
            _ladder(ladder, size, watch)


def _firsts(name: str, watch: Watch) -> Callable[[Launch], None]:
    """Watches the first launch of each kernel and shape, under a name with a number."""
    seen: set[tuple[object, ...]] = set()

    def show(launch: Launch) -> None:
        key = (launch.compiled.name, launch.grid, launch.block, launch.shared)
        if key not in seen:
            seen.add(key)
            watch(f"{name}/{len(seen)}", launch)

    return show


def _ladder(ladder: str, size: int, watch: Watch) -> None:
    _watch(ladder, Options(size=size, peers=False, timeout=600), watch)


def _watch(ladder: str, options: Options, watch: Watch) -> None:
    engine = _Watched("h100")
    toolchain = Toolchain(open_cuda=source.load, open_python=source.from_numba)
    for trial in find_ladder(ladder).trials(options, engine, toolchain):
        card = trial.card
        name = f"{ladder}/{card.table}/{card.rung}/{card.language}/{card.size}"
        engine.watch = _firsts(name, watch) if card.shape is not None else None
        try:
            trial.restore()
            trial.run()
        except WarpglassError as problem:
            print(f"{ladder} {card.rung} ({card.language}, {card.size}): {problem}", file=sys.stderr)
            lab.reset("cpu", "h100")


def watched_launches(ladder: str, size: int, dtype: str, rung: str) -> list[tuple[str, Launch]]:
    """The launches of one rung in C++, the first of each kernel and shape, with their names."""
    found: list[tuple[str, Launch]] = []
    options = Options(
        size=size, dtype=dtype, rungs=(rung,), languages=("cuda",), peers=False, timeout=600, gpu_sizes=True
    )
    _watch(ladder, options, lambda name, launch: found.append((name, launch)))
    return found


# ---------------------------------------------------------------------------------------- record
def record(path: Path) -> None:
    """Write all launches with their PTX and what describes their arguments."""
    texts: dict[str, str] = {}
    entries: list[dict[str, Any]] = []

    def add(name: str, launch: Launch) -> None:
        ptx = launch.compiled.ptx
        key = hashlib.sha256(ptx.encode()).hexdigest()[:16]
        texts[key] = ptx
        entries.append({"id": name, "ptx": key, **launch_entry(launch)})

    all_launches(add)
    path.write_text(json.dumps({"ptx": texts, "entries": entries}), encoding="utf-8")


def launch_entry(launch: Launch) -> dict[str, Any]:
    """How a launch is made, and what describes its arguments."""
    compiled = launch.compiled
    header = header_of(compiled.ptx, compiled.entry)
    assert header is not None, "it has been compiled"
    bound = Binder(compiled, parameters_of(header.parameters)).bind(launch.args)
    memory: list[dict[str, Any]] = []
    for number, place in enumerate(bound.allocations):
        content = np.frombuffer(ctypes.string_at(place.address, place.nbytes), np.uint8)
        form = next((array.dtype for array in bound.arrays if array.allocation == number), None)
        memory.append(_describe(content, form))
    return {
        "entry": compiled.entry,
        "grid": list(launch.grid),
        "block": list(launch.block),
        "shared": launch.shared,
        "cooperative": "%envreg" in compiled.ptx,
        "params": base64.b64encode(pack(bound, [0] * len(bound.allocations))).decode(),
        "offsets": [parameter.offset for parameter in bound.parameters],
        "relocs": [
            [parameter.offset, bound.arrays[value.array].allocation, bound.arrays[value.array].offset]
            for parameter, value in zip(bound.parameters, bound.values, strict=True)
            if type(value) is Reference
        ],
        "memory": memory,
    }


def _describe(content: np.ndarray[Any, Any], form: np.dtype[Any] | None) -> dict[str, Any]:
    """What measure.py makes an array like this one of: all of it, zeros, steps, or random sorted runs."""
    found: dict[str, Any] = {"bytes": int(content.size)}
    if content.size <= 4096:
        return {**found, "kind": "verbatim", "data": base64.b64encode(content.tobytes()).decode()}
    if not content.any():
        return {**found, "kind": "zero"}
    form = form if form is not None and form.kind in "fiu" else np.dtype(np.uint8)
    values = content[: content.size // form.itemsize * form.itemsize].view(form)
    found |= {"dtype": form.str, "low": float(np.nanmin(values)), "high": float(np.nanmax(values))}
    if form.kind in "iu":
        steps = np.diff(values.astype(np.int64))
        if steps[0] and (steps == steps[0]).all():
            return {**found, "kind": "arange", "step": int(steps[0])}
    return {**found, "kind": "random", "run": _sorted_run(values)}


def _sorted_run(values: np.ndarray[Any, Any]) -> int:
    """The length of the longest sorted runs, a power of two, that all of it consists of."""
    run = 1
    while run < values.size:
        longer = min(2 * run, values.size)
        rows = values[: values.size // longer * longer].reshape(-1, longer)
        if not (rows[:, 1:] >= rows[:, :-1]).all():
            break
        run *= 2
    return min(run, values.size)


# ---------------------------------------------------------------------------------------- predict
def predict(path: Path, model: str) -> None:
    """Write the modelled time of every launch, and what it asks of the GPU; those that are there stay."""
    found = json.loads(path.read_text("utf-8"))["predictions"] if path.is_file() else {}

    def add(name: str, launch: Launch) -> None:
        if name not in found:
            found[name] = predicted(launch, model)
            path.write_text(json.dumps({"model": model, "predictions": found}), encoding="utf-8")

    all_launches(add)


def predicted(launch: Launch, model: str) -> dict[str, Any]:
    """The modelled time of a launch and what it was made of; the arguments stay as they are."""
    loads: list[Load] = []

    def keep(*args: Any) -> Load:
        loads.append(kernel_load(*args))
        return loads[-1]

    kept = [(array, array.copy()) for array in launch.args if isinstance(array, np.ndarray)]
    with patch.object(kernel_time, "kernel_load", keep):
        modelled = count(launch, model).modelled
    for array, before in kept:
        array[...] = before
    assert modelled is not None, "caches are simulated"
    return {
        **{"seconds": modelled.seconds, "low": modelled.low, "high": modelled.high},
        **{"limiter": modelled.limiter, "refusal": modelled.failure},
        "load": asdict(loads[-1], dict_factory=_plain) if loads else None,
    }


def _plain(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """A load's fields but for the names of operations, numbers with what can be told of them."""
    return {
        name: float(f"{value:.5g}") if isinstance(value, float) else value
        for name, value in items
        if name != "operations"
    }


# ---------------------------------------------------------------------------------------- judge
def judge(times: Path, predictions: Path, kept: Path | None) -> None:
    """Print the errors of modelled times, by ladder, and the worst; keep what was measured of which loads."""
    measured = json.loads(times.read_text("utf-8"))["times"]
    made = json.loads(predictions.read_text("utf-8"))["predictions"]
    found = {
        name: (measured[name]["seconds"], one["seconds"])
        for name, one in made.items()
        if one["seconds"] is not None and measured.get(name, {}).get("seconds", 0.0) >= figures.NOISE
    }
    for line in figures.table(found):
        print(line)
    for one, other, right in figures.steps(found):
        if not right:
            print(f"{one} and {other} come in the other order")
    worst = sorted(found.items(), key=lambda item: -abs(math.log(item[1][1] / item[1][0])))
    for name, (right, here) in worst[:20]:
        print(f"{name:60} {1e6 * right:9.1f} us measured, {1e6 * here:9.1f} us modelled, {here / right:.2f}")
    if kept is not None:
        rows = [
            f"{json.dumps(name)}:"
            + json.dumps({"seconds": right, "load": made[name]["load"]}, separators=(",", ":"))
            for name, (right, _) in sorted(found.items())
        ]
        kept.write_text("{" + ",\n".join(rows) + "}\n", encoding="utf-8")


def main() -> None:
    """Record, predict or judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("act", choices=("record", "predict", "judge"))
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--model", default="h200")
    parser.add_argument("--keep", type=Path, help="file for measured times and loads, for the tests")
    given = parser.parse_args()
    if given.act == "record":
        record(*given.files)
    elif given.act == "predict":
        predict(*given.files, model=given.model)
    else:
        judge(*given.files, kept=given.keep)


if __name__ == "__main__":
    main()
