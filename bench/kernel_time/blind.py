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
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.kernel_time.validate import launch_entry, watched_launches
from warpglass import lab
from warpglass.engine.launch.backend import Launch
from warpglass.errors import WarpglassError
from warpglass.lab.profile import count

MODEL = "h200"
PREDICTIONS = Path(__file__).with_name("blind.json")
_NOISE = 20e-6  # seconds below which a launch is mostly its own overhead
_i, _u, _f, _d, _l = np.int32, np.uint32, np.float32, np.float64, np.uint64
_M = 1 << 20


@dataclass(frozen=True, slots=True)
class Foreign:
    """One launch of a kernel of a program of HeCBench; arrays are made by functions of a random generator."""

    file: str
    kernel: str
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    arguments: tuple[Any, ...]
    shared: int = 0


def floats(*shape: int, form: Any = np.float32) -> Callable[[np.random.Generator], Any]:
    """An array of [0, 1)."""
    return lambda random: random.random(math.prod(shape)).astype(form)


def integers(n: int, high: int = 2**31 - 1, form: Any = np.int32) -> Callable[[np.random.Generator], Any]:
    """An array of integers below a limit."""
    return lambda random: random.integers(0, high, n).astype(form)


def zeros(n: int, form: Any = np.float32) -> Callable[[np.random.Generator], Any]:
    """An array of zeros."""
    return lambda random: np.zeros(n, form)


FOREIGN: Sequence[Foreign] = (
    Foreign("softmax", "softMax", 256, 256, (_i(65536), _i(64), floats(65536, 64), zeros(65536 * 64))),
    Foreign("softmax", "softMax2", 8192, 256, (_i(65536), _i(128), floats(65536, 128), zeros(65536 * 128))),
    Foreign(
        "heat/heat.cu",
        "solve",
        16384,
        256,
        (
            *(_u(2048), _d(0.1), _d(0.01), _d(0.001), _d(0.2), _d(0.2)),
            *(floats(2048, 2048, form=np.float64), zeros(2048 * 2048, np.float64)),
        ),
    ),
    Foreign(
        "stencil1d/stencil_1d.cu", "stencil_1d", 32768, 256, (integers(8 * _M + 14), zeros(8 * _M, np.int32))
    ),
    Foreign("silu", "silu_forward_kernel", 32768, 256, (floats(8 * _M), zeros(8 * _M), _l(8 * _M))),
    Foreign(
        "silu",
        "silu_backward_kernel",
        32768,
        256,
        (floats(8 * _M), floats(8 * _M), zeros(8 * _M), _l(8 * _M)),
    ),
    Foreign("glu", "glu_kernel", 16384, 256, (_i(64), _i(256), _i(256), floats(8 * _M), zeros(4 * _M))),
    Foreign(
        "iso2dfd/iso2dfd.cu",
        "iso_2dfd_kernel",
        (192, 192),
        (16, 16),
        (zeros(9 * _M), floats(9 * _M), floats(9 * _M), _f(1e-6), _l(3072), _l(3072)),
    ),
    Foreign(
        "permute",
        "permute_kernel",
        24576,
        256,
        (*[zeros(6 * _M)] * 3, floats(18 * _M), _i(8), _i(1024), _i(12), _i(64)),
    ),
    Foreign(
        "fwt/kernels.cu", "fwtBatch1Kernel", 4096, 512, (zeros(8 * _M), floats(8 * _M), _i(11)), shared=8192
    ),
    Foreign("fwt/kernels.cu", "fwtBatch2Kernel", (8192, 1), 256, (zeros(8 * _M), floats(8 * _M), _i(2 * _M))),
    *(
        Foreign(
            "bilateral",
            f"bilateralFilter<{radius}>",
            (64, 64),
            (16, 16),
            (floats(1024, 1024), zeros(_M), _i(1024), _i(1024), _f(0.5), _f(0.5), _f(0.5)),
        )
        for radius in (3, 6)
    ),
    *(
        Foreign(
            "popcount",
            kernel,
            16384,
            256,
            (integers(4 * _M, form=np.uint64), zeros(4 * _M, np.int32), _i(4 * _M)),
        )
        for kernel in ("pc1", "pc3", "pc6")
    ),
    Foreign(
        "lombscargle",
        "lombscargle",
        512,
        256,
        (_i(500), _i(131072), floats(500), floats(500), floats(131072), zeros(131072), _f(2)),
    ),
    Foreign(
        "floydwarshall",
        "floydWarshallPass",
        (128, 128),
        (16, 16),
        (integers(4 * _M, 200, np.uint32), zeros(4 * _M, np.uint32), _u(2048), _u(77)),
    ),
    Foreign(
        "hellinger",
        "hellinger",
        (32, 32),
        (16, 16),
        (floats(512, 512), floats(512, 512), zeros(512 * 512), _i(512), _i(512), _i(512)),
    ),
    *(
        Foreign("matrixT", kernel, (128, 128), (16, 16), (zeros(4 * _M), floats(4 * _M), _i(2048), _i(2048)))
        for kernel in ("transposeNaive", "transposeDiagonal", "transposeCoarseGrained")
    ),
)

# Rungs that are younger than the model: ladder, size, element type, rung.
YOUNG: Sequence[tuple[str, int, str, str]] = (
    ("conv1d", 2**23, "float32", "register_window"),
    ("conv1d", 2**23, "float32", "async_tile"),
    ("conv2d", 2048, "float32", "rolling_rows"),
    ("image", 4864, "uint8", "grey_dot"),
    ("image", 2432, "uint8", "blur_tile"),
    ("transpose", 4096, "uint8", "word_tile"),
    ("transpose", 4096, "float32", "word_tile"),
)


def launches(hecbench: Path) -> Iterator[tuple[str, Launch]]:
    """All of them, by name; what cannot be compiled is said and left out."""
    for one in FOREIGN:
        name = f"hecbench/{one.file.partition('/')[0]}/{one.kernel}"
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
        for name, launch in watched_launches(ladder, size, dtype, rung):
            yield f"{name}/{dtype}", launch


def source_of(folder: Path, file: str, kernel: str) -> Path:
    """The file of a program that has the kernel."""
    files = [folder / file] if file else sorted(folder.glob("*.cu"))
    plain = kernel.partition("<")[0]
    return next(path for path in files if "__global__" in (text := path.read_text("utf-8")) and plain in text)


def predict(hecbench: Path, bundle: Path) -> None:
    """Write what is to be measured, and the times by the model; what is predicted already stays as it is."""
    texts: dict[str, str] = {}
    entries: list[dict[str, Any]] = []
    known = json.loads(PREDICTIONS.read_text("utf-8"))["predictions"] if PREDICTIONS.is_file() else {}
    predicted: dict[str, Any] = dict(known)
    for name, launch in launches(hecbench):
        if name in known:
            continue
        key = hashlib.sha256(launch.compiled.ptx.encode()).hexdigest()[:16]
        texts[key] = launch.compiled.ptx
        entries.append({"id": name, "ptx": key, **launch_entry(launch)})
        modelled = count(launch, MODEL).modelled
        assert modelled is not None
        predicted[name] = {
            **{"seconds": modelled.seconds, "low": modelled.low, "high": modelled.high},
            **{"limiter": modelled.limiter, "refusal": modelled.failure},
        }
        print(name, predicted[name], flush=True)
    bundle.write_text(json.dumps({"ptx": texts, "entries": entries}), encoding="utf-8")
    result = {"model": MODEL, "predictions": predicted}
    PREDICTIONS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def judged(times: Path) -> Iterator[str]:
    """Every prediction that was measured beside that as rows of a table, and below them the mean errors."""
    measured = json.loads(times.read_text("utf-8"))["times"]
    pairs: list[tuple[float, float]] = []
    for name, one in json.loads(PREDICTIONS.read_text("utf-8"))["predictions"].items():
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
        pairs.append((one["seconds"], seconds))
    yield ""
    yield _sentence("All", pairs)
    yield _sentence("Above 20 us", [pair for pair in pairs if pair[1] >= _NOISE])


def _sentence(which: str, pairs: Sequence[tuple[float, float]]) -> str:
    errors = [abs(here / there - 1) for here, there in pairs]
    mean, near = 100 * sum(errors) / len(errors), sum(error <= 0.25 for error in errors)
    return f"{which}: mean error {mean:.1f} % of {len(errors)} launches, {near} of them within 25 %."


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
