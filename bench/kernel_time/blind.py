"""Predict kernels that the model of kernel times has never seen, before anybody measures them.

    python bench/kernel_time/blind.py predict HECBENCH BUNDLE.json     # here; writes blind.json
    git commit bench/kernel_time/blind.json                            # what is committed cannot be adapted
    python bench/kernel_time/measure.py BUNDLE.json --json TIMES.json  # on the machine with the GPU
    python bench/kernel_time/blind.py judge TIMES.json

HECBENCH is a checkout of HeCBench (github.com/zjin-lcf/HeCBench), whose kernels are compiled as they are;
beside them stand rungs of ladders that are younger than the model. Predictions are those of the present tree;
once measured, a kernel is blind no more: new predictions need new kernels.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.kernel_time import figures
from bench.kernel_time.foreign import FIRST, NEXT, YOUNG
from bench.kernel_time.validate import launch_entry, predicted, watched_launches
from warpglass import lab
from warpglass.engine.launch.backend import Launch
from warpglass.errors import WarpglassError

MODEL = "h200"
PREDICTIONS, MEASURED = (Path(__file__).with_name(name) for name in ("blind.json", "blind_h200.json"))


def launches(hecbench: Path, known: Collection[str]) -> Iterator[tuple[str, Launch]]:
    """All but the known ones, by name; what cannot be compiled is said and left out."""
    for one in (*FIRST, *NEXT):
        name = f"hecbench/{one.file.partition('/')[0]}/{one.kernel}"
        if name in known:
            continue
        folder, _, file = one.file.partition("/")
        try:
            kernel = lab.load(source_of(hecbench / "src" / f"{folder}-cuda", file, one.kernel), one.kernel)
            random = np.random.default_rng(20)
            values = tuple(value(random) if callable(value) else value for value in one.arguments)
            place = lab.backend("cpu", MODEL)
            yield name, lab.make_launch(kernel, one.grid, one.block, values, one.shared, 600, place)
        except WarpglassError as problem:
            print(f"{name}: {problem}", file=sys.stderr)
    for ladder, size, dtype, rung in YOUNG:
        if any(f"/{rung}/" in name and f"/{size}/" in name for name in known):
            continue
        for name, launch in watched_launches(ladder, size, dtype, rung):
            yield f"{name}/{dtype}", launch


def source_of(folder: Path, file: str, kernel: str) -> Path:
    """The file of a program that has the kernel."""
    files = [folder / file] if file else sorted(folder.glob("*.cu"))
    plain = kernel.partition("<")[0]
    for path in files:
        if "__global__" in (text := path.read_text("utf-8", "replace")) and plain in text:
            return path
    raise WarpglassError(f"{folder} has no file with {kernel}")


def predict(hecbench: Path, bundle: Path) -> None:
    """Write what has not been measured, and times by the model; what is predicted already stays as it is."""
    texts: dict[str, str] = {}
    entries: list[dict[str, Any]] = []
    known = json.loads(PREDICTIONS.read_text("utf-8"))["predictions"] if PREDICTIONS.is_file() else {}
    made: dict[str, Any] = dict(known)
    measured = json.loads(MEASURED.read_text("utf-8"))["times"] if MEASURED.is_file() else {}
    for name, launch in launches(hecbench, measured):
        key = hashlib.sha256(launch.compiled.ptx.encode()).hexdigest()[:16]
        texts[key] = launch.compiled.ptx
        entries.append({"id": name, "ptx": key, **launch_entry(launch)})
        bundle.write_text(json.dumps({"ptx": texts, "entries": entries}), encoding="utf-8")
        if name in known:
            continue
        made[name] = {key: value for key, value in predicted(launch, MODEL).items() if key != "load"}
        print(name, made[name], flush=True)
        result = {"model": MODEL, "predictions": made}
        PREDICTIONS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def judged(times: Path, predictions: Path = PREDICTIONS) -> Iterator[str]:
    """Every prediction that was measured beside that as rows of a table, and below them the mean errors."""
    measured = json.loads(times.read_text("utf-8"))["times"]
    pairs: list[figures.Pair] = []
    for name, one in json.loads(predictions.read_text("utf-8"))["predictions"].items():
        if name not in measured:
            continue
        seconds = measured[name].get("seconds")
        words = name.removeprefix("hecbench/")
        if seconds is None or one["seconds"] is None:
            yield f"| {words} | {one['refusal'] or measured[name].get('failure')} | | | |"
            continue
        within = "yes" if one["low"] <= seconds <= one["high"] else "no"
        ratio = one["seconds"] / seconds
        yield f"| {words} | {1e6 * one['seconds']:.1f} us | {1e6 * seconds:.1f} us | {ratio:.2f} | {within} |"
        pairs.append((seconds, one["seconds"]))
    yield ""
    yield figures.sentence("All", pairs)
    yield figures.sentence("Above 20 us", [pair for pair in pairs if pair[0] >= figures.NOISE])


def main() -> None:
    """Predict or judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("act", choices=("predict", "judge"))
    parser.add_argument("files", nargs="+", type=Path)
    given = parser.parse_args()
    if given.act == "predict":
        predict(*given.files)
    else:
        print("\n".join(judged(*given.files)))


if __name__ == "__main__":
    main()
