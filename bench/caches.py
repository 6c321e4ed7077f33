"""How far the simulated caches are from what Nsight Compute measured, and what simulating them costs.

    python bench/caches.py [CASE ...]

Prints for each kernel the modelled and the measured number of every counter, then by counter the median and
the largest relative error over the kernels where at least 100 sectors were measured (hit rates: in points),
and how much longer a launch takes counted with caches than plain (on one thread: set WARPGLASS_THREADS=1).
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.cases.truth.more_launch import Case  # noqa: E402
from tests.observe import truth  # noqa: E402
from warpglass import lab  # noqa: E402
from warpglass.engine.launch.backend import Launch  # noqa: E402
from warpglass.lab import profile as lab_profile  # noqa: E402

COUNTERS = (
    "l1tex__t_sector_hit_rate.pct",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "dram__sectors_read.sum",
    "dram__sectors_write.sum",
)
LEAST = 100  # sectors below which an error says nothing


def main() -> None:
    """Compare, time and print."""
    wanted = sys.argv[1:]
    errors: dict[str, list[float]] = {name: [] for name in COUNTERS}
    costs: list[float] = []
    print(f"{'':24}" + "".join(f"{name.removesuffix('.sum'):>30}" for name in COUNTERS) + "    cost")
    for name in ("open", "more", "more_py"):
        for case in truth.cases(name).values():
            if wanted and case.id not in wanted:
                continue
            found = truth.profile(name, case, caches=True)
            sectors = truth.measured(name)[case.id]["metrics"]
            numbers = {
                metric: (found.counters[metric], sectors[metric]) for metric in COUNTERS if metric in sectors
            }
            costs.append(_cost(name, case))
            row = [f"{modelled:,.0f} / {seen:,.0f}" for modelled, seen in numbers.values()]
            print(f"{case.id:24}" + "".join(f"{text:>30}" for text in row) + f"{costs[-1]:7.1f}x")
            for metric, (modelled, seen) in numbers.items():
                if metric.endswith(".pct"):
                    errors[metric].append(abs(modelled - seen))
                elif seen >= LEAST:
                    errors[metric].append(abs(modelled - seen) / seen)
    for metric, found in errors.items():
        if found:
            unit = (1, " points") if metric.endswith(".pct") else (100, " %")
            middle, worst = (unit[0] * value for value in (statistics.median(found), max(found)))
            text = f"median error {middle:.1f}{unit[1]}, worst {worst:.1f}{unit[1]}"
            print(f"{metric:32} {text} of {len(found)}")
    print(f"cost: geometric mean {statistics.geometric_mean(costs):.1f}x, worst {max(costs):.1f}x")


def _cost(name: str, case: Case) -> float:
    """Time of a launch counted with caches over that of a plain one; the least of three each, in turns."""
    kernel, engine = truth.kernel(name, case), lab.backend("cpu")

    def launch() -> Launch:
        return lab.make_launch(
            kernel, case.grid, case.block, truth.arguments(case), case.shared, 60.0, lab.backend("cpu")
        )

    pairs = [(lab_profile.count(launch(), "h100").seconds, engine.run(launch()).seconds) for _ in range(4)]
    return min(counted for counted, _ in pairs[1:]) / min(plain for _, plain in pairs[1:])


if __name__ == "__main__":
    main()
