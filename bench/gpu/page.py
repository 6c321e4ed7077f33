"""Race the last rungs against libraries on the GPU that is present, and write docs/gpu.md.

    python bench/gpu/page.py measure RESULTS.json [--only reduction ...]   # on the machine with the GPU
    python bench/gpu/page.py write RESULTS.json ...                        # docs/gpu.md, anywhere

Every row of the page is a race of its own: the last rungs of a table in C++ and every library that is
installed, in turns, on the same arrays. The fastest rung that is right stands in the row. Several files are
joined; a race that is in more than one counts as in the last.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import importlib.util
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import warpglass as wg
from bench.gpu import cub_peer
from warpglass import lab
from warpglass.engine.gpu.backend import GpuBackend
from warpglass.ladders import find_ladder
from warpglass.ladders.peer import LIBRARIES
from warpglass.ladders.trial import Options
from warpglass.records.bench import Record, Row, from_json
from warpglass.report.figures import format_ratio, format_seconds

PAGE = Path(__file__).parents[2] / "docs" / "gpu.md"
LAST = 4  # rungs of a table that race
PEERS = {"cub": "CUB", "cupy": "CuPy", "torch": "PyTorch"}


@dataclass(frozen=True)
class Race:
    """One row of the page."""

    words: str
    ladder: str
    table: str
    size: int
    dtype: str
    data: str | None = None
    unit: str = "GB/s"

    @property
    def key(self) -> str:
        """What tells it from others."""
        return f"{self.ladder}/{self.table}/{self.size}/{self.dtype}/{self.data or ''}"


def _races() -> Iterator[Race]:
    for power in (20, 22, 28):
        yield Race(f"sum, 2^{power}", "reduction", "beyond", 2**power, "float32")
    for power in (20, 22, 28):
        yield Race(f"dot, 2^{power}", "dot", "dot", 2**power, "float32")
    for power in (20, 22, 26):
        yield Race(f"cumsum, 2^{power}", "scan", "scan", 2**power, "float32")
    for power in (19, 26):
        yield Race(f"sort keys, 2^{power}", "sort", "sort", 2**power, "float32")
    for rows in (4096, 4095, 4097):
        yield Race(f"matmul, {rows}", "matmul", "matmul", rows, "float32", unit="TFLOP/s")
    for table, words in (("tf32", "TF32"), ("bf16", "bfloat16")):
        yield Race(f"matmul of {words}, 4096", "matmul", table, 4096, "float32", unit="TFLOP/s")
    yield Race("matmul of doubles, 4096", "matmul", "fp64", 4096, "float64", unit="TFLOP/s")
    yield Race("matmul, 8192", "matmul", "matmul", 8192, "float32", unit="TFLOP/s")
    yield Race("conv1d of 9 weights, 2^26", "conv1d", "conv1d", 2**26, "float32")
    yield Race("conv2d of 5 x 5 weights, 4096 rows", "conv2d", "conv2d", 4096, "float32")
    yield Race("transpose, 8192 rows", "transpose", "transpose", 8192, "float32")
    yield Race("colour to grey, 9728 columns", "image", "grey", 9728, "uint8")
    yield Race("blur of 11 x 11, 4864 columns", "image", "blur", 4864, "uint8")
    yield Race("histogram of bytes, 2^28", "histogram", "bytes", 2**28, "uint8")
    yield Race("histogram of equal bytes, 2^28", "histogram", "bytes", 2**28, "uint8", "equal")
    yield Race("histogram of 4096 bins, 2^26", "histogram", "bins", 2**26, "int32")


RACES = tuple(_races())


INTRODUCTION = """# On a real GPU: the last rungs beside the libraries

Device: {device}. {versions}. Measured on {day} with `python bench/gpu/page.py measure`, whose results
`python bench/gpu/page.py write` puts here; no number on this page is typed.

Each row is a race of its own: the last rungs of a ladder's table and what CUB, CuPy (with CUB and cuBLAS) and
PyTorch (with CUB, cuBLAS and cuDNN) have for the same question, in turns, on the same arrays there.
The fastest rung that is right stands in the row. Times are medians of samples on the device's clock, taken
until the median is known to 0.5 %, with their relative standard deviation. Caches are cold, but where
something takes less than 10 us: there all are timed many in a row, with warm caches. The rate is that of the
least bytes or operations that the problem needs, its share that of a copy of 256 MiB there ({copy:.0f} GB/s,
read and written). Ratios above 1 say that the rung is faster; a dash stands where a library has no such
function, or is not asked.
"""


# ------------------------------------------------------------------------------------------ measuring
def last_rungs(race: Race) -> tuple[str, ...]:
    """The last rungs of a race's table that have kernels in C++."""
    rungs = [rung for rung in find_ladder(race.ladder).rungs(Options()) if rung.table == race.table]
    return tuple(rung.name for rung in rungs if rung.host is None and "cuda" in rung.languages)[-LAST:]


def run(race: Race) -> Record:
    """Run one race."""
    return wg.bench(
        race.ladder,
        size=race.size,
        dtype=race.dtype,
        data=race.data,
        rungs=last_rungs(race),
        language="cuda",
        final="launch",
        device="gpu",
    ).record


def about(gpu: GpuBackend) -> dict[str, Any]:
    """The machine and the libraries."""
    versions = {
        name: importlib.import_module(name).__version__
        for name in ("cupy", "torch")
        if importlib.util.find_spec(name)
    }
    bandwidth = gpu.bandwidth()
    return {
        "gpu": gpu.device_name,
        "device": gpu.description,
        "versions": {**versions, "numpy": importlib.metadata.version("numpy"), "warpglass": wg.__version__},
        "copy": bandwidth.measured,
        "day": time.strftime("%Y-%m-%d"),
    }


def leave_out_the_host() -> None:
    """Libraries that compute on the host take long and are not on the page."""
    for name in {race.ladder for race in RACES}:
        found = find_ladder(name)
        peers = tuple(peer for peer in found.problem.peers if LIBRARIES[peer.library].on_gpu)
        found.problem = replace(found.problem, peers=peers)


def measure(path: Path, only: Sequence[str], cub: Path | None) -> None:
    """Run all races, or those of some ladders, and save them after each."""
    gpu = lab.backend("gpu")
    assert isinstance(gpu, GpuBackend)
    leave_out_the_host()
    functions = cub_peer.build(cub)
    if functions is not None:
        cub_peer.enter(functions)
    results: dict[str, Any] = {"about": about(gpu), "races": {}}
    chosen = [race for race in RACES if race.ladder in only] if only else RACES
    for race in sorted(chosen, key=lambda race: only.index(race.ladder)) if only else chosen:
        if race.table not in find_ladder(race.ladder).problem.tables:
            continue
        began = time.monotonic()
        record = run(race)
        results["races"][race.key] = json.loads(record.to_json())
        path.write_text(json.dumps(results) + "\n", encoding="utf-8")
        print(f"{race.words}: {time.monotonic() - began:.1f} s", flush=True)
        for row in (*record.rows, *record.peers):
            said = row.failure or ("right" if row.verified else "WRONG")
            rate = format_ratio(row.gb_per_s)
            print(f"    {row.kernel:44} {format_seconds(row.seconds):>10} {rate:>8} {said}")


# ------------------------------------------------------------------------------------------ the page
def best(rows: Sequence[Row]) -> Row | None:
    """The fastest row that is right."""
    right = [row for row in rows if row.verified and row.seconds]
    return min(right, key=lambda row: row.seconds or 0.0, default=None)


def line(race: Race, record: Record, copy: float) -> str:
    """One row of the table."""
    own = best(record.rows)
    if own is None or own.seconds is None or own.gb_per_s is None or own.gflop_per_s is None:
        return f"| {race.words} | {race.dtype} | none is right | | | | " + " | " * len(PEERS)
    rate, share = f"{own.gb_per_s:.0f} GB/s", f"{1e11 * own.gb_per_s / copy:.0f} %"
    if race.unit == "TFLOP/s":
        rate, share = f"{own.gflop_per_s / 1e3:.1f} TFLOP/s", ""
    peers = (next((row for row in record.peers if row.language == name), None) for name in PEERS)
    cells = [_peer(row, own.seconds) for row in peers]
    time_ = f"{format_seconds(own.seconds)} ± {100 * (own.noise or 0):.1f} %"
    return f"| {race.words} | {race.dtype} | {own.rung} | {time_} | {rate} | {share} | {' | '.join(cells)} |"


def _peer(row: Row | None, own: float) -> str:
    if row is None or row.seconds is None:
        return "-" if row is None or row.failure is None else "fails"
    return f"{row.seconds / own:.2f} ({format_seconds(row.seconds)}{'' if row.verified else ', wrong'})"


def text_of(about: dict[str, Any], records: dict[str, Record]) -> str:
    """The page."""
    heads = " | ".join(f"against {name}" for name in PEERS.values())
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    described = {name: about[name] for name in ("device", "day")}
    lines = [
        INTRODUCTION.format(versions=versions, copy=about["copy"] / 1e9, **described),
        f"| problem | type | rung | time | rate | of a copy | {heads} |",
        f"|---|---|---|---|---|---|{'---|' * len(PEERS)}",
        *(line(race, records[race.key], about["copy"]) for race in RACES if race.key in records),
        "",
    ]
    return "\n".join(lines)


def write(paths: Sequence[Path]) -> None:
    """Write the page from what was measured."""
    described: dict[str, Any] = {}
    records: dict[str, Record] = {}
    for path in paths:
        results = json.loads(path.read_text(encoding="utf-8"))
        described = results["about"]
        records |= {key: from_json(json.dumps(one), str(path)) for key, one in results["races"].items()}
    PAGE.write_text(text_of(described, records), encoding="utf-8")


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("measure", "write"))
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--only", nargs="+", default=())
    parser.add_argument("--cub", type=Path, help="cub_peer.cu, compiled; else nvcc compiles it")
    given = parser.parse_args()
    if given.what == "measure":
        measure(given.results[0], given.only, given.cub)
    else:
        write(given.results)


if __name__ == "__main__":
    main()
