"""The engine against PoCL, NumPy and numba's simulator, on the same kernels, in alternation and checked.

    python -m bench.engine [--only NAME ...] [--threads 1 2] [--rounds 9] [--no-pocl] [--compile]
                           [--simulator] [--json FILE] [--compare [BASELINE]] [--write [BASELINE]]

Every contestant's results are compared with NumPy's. Prints, for each kernel and number of threads, medians
and ratios, PTX thread-instructions a second and how the engine scales; then what was to be reached and what
is missed. `--compile` adds the time before a kernel's first instruction, `--simulator` numba's simulator: one
block, extrapolated to the grid. `--compare` exits with 1 if a ratio is worse than the baseline's beyond noise
in two runs. PoCL needs `apt-get install pocl-opencl-icd` and `pip install pyopencl`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

from .case import cases, extents
from .figures import Figures, figures, geometric_mean, kept, ratios, regressions
from .session import limits

BASELINE = Path(__file__).with_name("baseline.json")


def _session(what: str, threads: int, options: argparse.Namespace, only: Sequence[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "session.json"
        command = [sys.executable, "-m", f"{__package__}.session", what, "--json", str(file)]
        command += ["--threads", str(threads), "--rounds", str(options.rounds)]
        command += ["--no-pocl"] if options.no_pocl else []
        command += ["--only", *only] if only else []
        subprocess.run(command, check=True, env=os.environ | limits(threads))
        return json.loads(file.read_text())


def _times(options: argparse.Namespace, only: Sequence[str]) -> Figures:
    return figures({str(n): _session("times", n, options, only) for n in options.threads})


# ---------------------------------------------------------------------------------------- printing
def _print_times(found: Figures) -> None:
    for threads, rows in found.items():
        print(f"\n{threads} thread{'s' * (threads != '1')}: median ms, and times faster than the other")
        print(f"{'':26}{'C++':>9}{'Python':>9}{'PoCL':>9}{'NumPy':>9}", end="")
        print(f"{'PoCL/C++':>12}{'NumPy/C++':>11}{'C++/Python':>12}{'10^9 instr/s':>14}")
        for name, row in rows.items():
            seconds = [row["seconds"].get(who) for who in ("C++", "Python", "PoCL", "NumPy")]
            rates = [row["ratios"].get(r, {}).get("ratio") for r in ("PoCL/C++", "NumPy/C++", "C++/Python")]
            print(f"{name:26}", *(f"{1e3 * s:8.2f}" if s else f"{'-':>8}" for s in seconds), end="")
            print(*(f"{r:11.2f}" if r else f"{'-':>11}" for r in rates), end="")
            print(f"{row['instructions_per_second']['C++'] / 1e9:14.2f}")


def _print_scaling(found: Figures) -> None:
    if {"1", "2"} <= found.keys():
        print("\n2 threads against 1, C++ (one thread's time is the processor's):")
        for name, row in found["1"].items():
            print(f"{name:26}{row['seconds']['C++'] / found['2'][name]['seconds']['C++']:8.2f}")


def _print_targets(found: Figures) -> None:
    bounds = {case.name: case.numpy_bound for _, case in cases() if case.numpy_bound}
    print("\nto be reached:")
    for threads in found:
        against = ratios(found, threads, "PoCL/C++")
        if against:
            mean = geometric_mean(against.values())
            _say(f"{threads} threads: geometric mean against PoCL at least 6", mean, mean >= 6)
            for name, ratio in against.items():
                if ratio < 0.95:
                    _say(f"{threads} threads: {name} against PoCL at least 0.95", ratio, False)
        for name, ratio in ratios(found, threads, "NumPy/C++").items():
            if name in bounds:
                bound = bounds[name]
                _say(
                    f"{threads} threads: {name} at most {bound} of NumPy's time",
                    1 / ratio,
                    1 / ratio <= bound,
                )
        for name, ratio in ratios(found, threads, "C++/Python").items():
            if ratio < 1 / 1.3:
                _say(f"{threads} threads: {name} in Python at most 1.3 of C++", 1 / ratio, False)


def _say(what: str, figure: float, met: bool) -> None:
    print(f"  {what:66}{figure:9.2f}   {'met' if met else 'MISSED'}")


def _print_compile(found: dict[str, Any]) -> None:
    print("\nms before the first instruction, medians of all kernels:")
    for language in ("C++", "Python"):
        of = [one[language] for one in found.values() if language in one]
        source, first, again = (
            statistics.median(one[stage] for one in of) * 1e3 for stage in ("source", "first", "again")
        )
        print(f"  {language:8} to PTX {source:8.1f}   PTX to running {first:8.1f}   from disk {again:8.1f}")


def _print_simulator(found: dict[str, Any], times: Figures) -> None:
    """One block's time, extrapolated to the grid."""
    print("\nnumba's simulator, one block extrapolated to the grid; times slower than the engine (Python):")
    threads = next(iter(times))
    for _, case in cases():
        if found.get(case.name):
            one = found[case.name]
            whole = one["seconds"] * prod(extents(case.grid))
            ratio = whole / times[threads][case.name]["seconds"]["Python"]
            print(f"  {case.name:26}{'at least ' if one['more'] else '':9}{ratio:12.0f}")


# ---------------------------------------------------------------------------------------- the command
def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.engine",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [case.name for _, case in cases()]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", default=[])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--no-pocl", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--simulator", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--compare", nargs="?", type=Path, const=BASELINE)
    parser.add_argument("--write", nargs="?", type=Path, const=BASELINE)
    return parser.parse_args()


def main() -> int:
    """Measure, print, keep and compare; 1 after a regression."""
    options = _options()
    found = _times(options, options.only)
    whole: dict[str, Any] = {"times": found}
    _print_times(found)
    _print_scaling(found)
    if options.compile:
        whole["compile"] = _session("compile", 1, options, options.only)
        _print_compile(whole["compile"])
    if options.simulator:
        whole["simulator"] = _session("simulator", 1, options, options.only)
        _print_simulator(whole["simulator"], found)
    _print_targets(found)
    if options.json:
        options.json.write_text(json.dumps(whole, indent=1))
    if options.write:
        options.write.write_text(json.dumps(kept(found), indent=1) + "\n")
    return _compare(options, found) if options.compare else 0


def _compare(options: argparse.Namespace, found: Figures) -> int:
    baseline = json.loads(options.compare.read_text())
    suspects = regressions(found, baseline)
    if suspects:  # once more, as what slowed a run seldom comes twice
        suspects = regressions(_times(options, list(suspects)), baseline)
    for lines in suspects.values():
        print(*lines, sep="\n")
    print(f"\n{len(suspects)} kernels are slower than {options.compare.name} beyond noise")
    return 1 if suspects else 0


if __name__ == "__main__":
    sys.exit(main())
