"""What counting costs: processor time of counted launches over that of plain ones, for reduction kernels.

    python bench/counting.py [--log2-size 20] [--repeat 15] [RUNG ...]

Plain and counted launches alternate on one thread; each figure is the least of all. Compiling is not part of
it, and caches are not simulated. Ends with status 1 if a kernel is above 2 or the geometric mean above 1.6.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time

os.environ["WARPGLASS_THREADS"] = "1"
os.environ["WARPGLASS_TIER"] = "optimised"

from warpglass import source
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.launch.backend import Launch, Outcome
from warpglass.ladders import find_ladder
from warpglass.ladders.trial import Options, Toolchain, Trial
from warpglass.observe.counting import Counting

EACH, MEAN = 2.0, 1.6


class Switch(CpuBackend):
    """The engine, counting or not."""

    counts = False
    launches = 0

    def run(self, launch: Launch) -> Outcome:
        """Run a launch, counted if that is switched on."""
        self.launches += 1
        return self.observe(launch, Counting())[0] if self.counts else super().run(launch)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--log2-size", type=int, default=20, help="elements")
    parser.add_argument("--repeat", type=int, default=15, help="launches of each kind")
    parser.add_argument("rungs", nargs="*", help="rungs, all without")
    wanted = parser.parse_args()
    backend = Switch()
    options = Options(size=1 << wanted.log2_size, rungs=tuple(wanted.rungs))
    tools = Toolchain(open_cuda=source.load, open_python=source.from_numba)
    ratios: list[float] = []
    for trial in find_ladder("reduction").trials(options, backend, tools):
        before = backend.launches
        plain, counted = _measure(trial, backend, wanted.repeat)
        if backend.launches == before:  # the baseline, which is no kernel
            continue
        ratios.append(counted / plain)
        card = trial.card
        print(f"{card.rung:28} {card.language:7} {1e3 * plain:8.2f} ms {ratios[-1]:6.2f}", flush=True)
    mean = math.prod(ratios) ** (1 / len(ratios))
    print(f"geometric mean {mean:.2f} (at most {MEAN}), largest {max(ratios):.2f} (at most {EACH})")
    sys.exit(mean > MEAN or max(ratios) > EACH)


def _measure(trial: Trial, backend: Switch, repeat: int) -> tuple[float, float]:
    """Seconds of the processor, of a plain and of a counted launch."""
    least = {False: math.inf, True: math.inf}
    for number in range(repeat + 1):
        for counts in (False, True):
            backend.counts = counts
            trial.restore()
            began = time.process_time()
            trial.run()
            if number:  # the first ones compile
                least[counts] = min(least[counts], time.process_time() - began)
    return least[False], least[True]


if __name__ == "__main__":
    main()
