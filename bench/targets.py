"""Every speed target of the reduction ladder, measured: prints figure, target and whether it is met.

Each figure is a median of repeats; processes are started afresh where a figure is about starting. Run it
on an otherwise idle machine; the PoCL comparison is in bench/pocl.py, the parts of a launch in
bench/launch.py.

    python bench/targets.py [--log2-size 24]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

import numpy as np

import warpglass as wg

KERNEL = """
extern "C" __global__ void scale(float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}
"""
FIRST_LAUNCH = f"""
import time
import numpy as np
import warpglass as wg
text = {KERNEL!r}
x = np.ones(1000, np.float32)
started = time.perf_counter()
wg.run(wg.compile(text, "scale"), 4, 256, (x, 2.0, 1000), device="cpu")
print(time.perf_counter() - started)
"""


def _process(code: list[str], repeat: int = 7) -> float:
    """Median wall seconds of a fresh Python process, less those of an empty one."""
    seconds: list[float] = []
    for _ in range(repeat):
        laps: list[float] = []
        for command in (["-c", "pass"], code):
            started = time.perf_counter()
            subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
            laps.append(time.perf_counter() - started)
        seconds.append(laps[1] - laps[0])
    return statistics.median(seconds)


def _first_launch(repeat: int = 7) -> float:
    """Median seconds of the first launch of a cached kernel in a process that has imported warpglass."""
    found = [
        float(
            subprocess.run(
                [sys.executable, "-c", FIRST_LAUNCH], check=True, capture_output=True, text=True
            ).stdout
        )
        for _ in range(repeat + 1)
    ]
    return statistics.median(found[1:])


def _later_launch(repeat: int = 2000) -> float:
    kernel = wg.compile(KERNEL, "scale")
    x = np.ones(1000, np.float32)
    seconds: list[float] = []
    for _ in range(repeat):
        started = time.perf_counter()
        wg.run(kernel, 4, 256, (x, 1.0, 1000), device="cpu")
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[10:])


def _slowest_rung(size: int) -> tuple[float, str]:
    rows = wg.bench("reduction", size=size, device="cpu").rows
    timed = [(row.seconds or 0.0, f"{row.rung} ({row.language})") for row in rows if row.label == "engine"]
    return max(timed)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--log2-size", type=int, default=24)
    size = 1 << parser.parse_args().log2_size
    started = time.perf_counter()
    slowest, which = _slowest_rung(size)
    whole = time.perf_counter() - started
    figures = [
        (f"slowest rung at {size} doubles: {which}", slowest, 0.5),
        ("the whole bench", whole, 60.0),
        ("import warpglass", _process(["-c", "import warpglass"]), 0.2),
        ("warpglass --help", _process(["-m", "warpglass", "--help"]), 0.4),
        ("first launch of a cached kernel", _first_launch(), 0.3),
        ("later launches of a small grid", _later_launch(), 100e-6),
    ]
    for what, seconds, target in figures:
        verdict = "met" if seconds < target else "MISSED"
        print(f"{what:60} {seconds * 1e3:10.3f} ms   target {target * 1e3:9.1f} ms   {verdict}")


if __name__ == "__main__":
    main()
