"""What a sweep costs beside the cells' own work, measured here, and what that would mean for 1,000 workers.

    python bench/sweeps/study.py [CELLS] [--page]

measures on two workers of one machine what a cell costs in each part of a sweep on a Dask cluster (processor
time of the process that runs the sweep, of the scheduler, of a worker), what it weighs in memory and what its
result takes to be kept; then sends cells through a model of these parts, with more workers than there are.
With --page the tables of docs/cluster-study.md are written anew.
"""

from __future__ import annotations

import heapq
import re
import socket
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil

from warpglass.sweeps import cluster
from warpglass.sweeps.cell import Cell, Subject
from warpglass.sweeps.spec import make
from warpglass.sweeps.store import Store
from warpglass.sweeps.work import DONE, Outcome

PAGE = Path(__file__).parents[2] / "docs" / "cluster-study.md"
_IDLE = 5.0  # seconds
AHEAD = cluster._AHEAD  # batches that a scheduler holds for each worker
CELLS = 10**6
WORKERS = (2, 10, 100, 1000)
SECONDS = (0.01, 0.1, 1.0, 10.0)  # of a cell's own work
KERNEL = 'extern "C" __global__ void fill(int *x, int n) { x[threadIdx.x] = n; }'


@dataclass(frozen=True)
class Costs:
    """Seconds of processor time that a cell takes in each part; `wall` is the clock's, of two workers.

    Cells come in batches of `batch`.
    """

    making: float  # a cell of its specification
    coordinator: float  # submitting it and taking its result
    scheduler: float
    worker: float
    keeping: float  # its result in the file
    wall: float
    kilobytes: float  # of a cell in the coordinator's memory
    batch: int = 1

    def in_batches_of(self, alone: Costs, size: int) -> Costs:
        """The costs in smaller batches, between these and those of cells alone: a part is the batch's."""
        share = (1 / size - 1 / self.batch) / (1 - 1 / self.batch)

        def between(name: str) -> float:
            whole, single = getattr(self, name), getattr(alone, name)
            return whole + share * max(0.0, single - whole)

        mixed = {name: between(name) for name in ("coordinator", "scheduler", "worker")}
        return replace(self, batch=size, **mixed)


# ---------------------------------------------------------------------------------------- measuring
def cell(number: int) -> Cell:
    """A cell that asks for nothing."""
    return Cell("none", (("n", number),), Subject(args=(str(number),)), "h100", ("time",), 1, 60.0, (), "")


def nothing(job: Cell) -> Outcome:
    """What a worker does: no work at all, so that what is left is the cost."""
    return Outcome(job.key, DONE, {"seconds": 0.0})


def lasts(job: Cell) -> float:
    """Seconds that it may take."""
    return job.timeout


def measure(count: int, batch: int) -> Costs:
    """Send so many empty cells through a scheduler and two workers, each a process of its own."""
    cluster._MOST = batch
    making, kilobytes = measure_cells(count)
    jobs = [cell(number) for number in range(count)]
    warm = [cell(-1 - number) for number in range(20)]
    outcomes: list[tuple[Cell, Outcome]] = []
    with tempfile.TemporaryDirectory() as folder:
        address = f"tcp://127.0.0.1:{free_port()}"
        running = [command("scheduler", "--host", address, folder=folder)]
        running += [
            command("worker", address, "--nthreads", "1", "--no-nanny", folder=folder) for _ in range(2)
        ]
        try:
            wait_for(address)
            for _ in cluster.on_dask(warm, address, nothing, lasts):
                pass
            standing = spent(running, lambda: time.sleep(_IDLE))[1]
            own = time.process_time()
            wall, used_by = spent(
                running, lambda: outcomes.extend(cluster.on_dask(jobs, address, nothing, lasts))
            )
            own = time.process_time() - own
            # What they take when there is nothing to do goes on meanwhile.
            scheduler, *workers = (
                max(0.0, one - idle * wall / _IDLE) for one, idle in zip(used_by, standing, strict=True)
            )
        finally:
            for one in running:
                one.kill()
                one.wait()
        with Store(Path(folder) / "kept.sqlite") as store:
            begun = time.process_time()
            for job, outcome in outcomes:
                store.put(job, outcome)
            keeping = time.process_time() - begun
    assert len(outcomes) == count
    own, scheduler, worker, keeping, wall = (
        one / count for one in (own, scheduler, sum(workers), keeping, wall)
    )
    return Costs(making, own, scheduler, worker, keeping, wall, kilobytes, batch)


def measure_cells(count: int) -> tuple[float, float]:
    """Seconds and kilobytes of making a cell of a specification."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "k.cu").write_text(KERNEL)
        launch = {"grid": 1, "block": 32, "args": ["i4[32]", "i4={n}"]}
        spec: dict[str, Any] = {
            "axes": {"n": list(range(count))},
            "kernel": {"kernel": "k.cu:fill", **launch},
        }
        found = make(spec, Path(folder))
        begun = time.process_time()
        made = list(found.cells())
        making = time.process_time() - begun
        del made
        tracemalloc.start()
        made = list(found.cells())
        keys = [one.key for one in made]
        weight = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
    return making / len(keys), weight / len(made) / 1e3


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def command(kind: str, *words: str, folder: str) -> subprocess.Popen[Any]:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard", *words], **quiet
    )


def wait_for(address: str) -> None:
    from distributed import Client

    with Client(address, timeout=120, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=120)


def spent(processes: Sequence[subprocess.Popen[Any]], act: Callable[[], Any]) -> tuple[float, list[float]]:
    """Seconds by the clock while something is done, and of processor time that each process has meanwhile."""

    def used() -> list[float]:
        every = [psutil.Process(one.pid) for one in processes]
        times = [
            [part.cpu_times() for part in (one, *one.children(recursive=True))] for one in every
        ]  # a worker's jobs are done by processes beside it
        return [sum(one.user + one.system for one in parts) for parts in times]

    before, begun = used(), time.perf_counter()
    act()
    wall = time.perf_counter() - begun
    return wall, [last - first for first, last in zip(before, used(), strict=True)]


# ---------------------------------------------------------------------------------------- the model
def rate(costs: Costs, workers: int, seconds: float) -> float:
    """Cells a second that come out: the coordinator, the scheduler and the workers, each a queue.

    A cell goes through coordinator, scheduler, a worker, scheduler, coordinator; a visit to one of the two
    costs half of what the cell costs there. As many cells are under way as a sweep hands out.
    """
    coordinator, scheduler = (costs.coordinator + costs.keeping) / 2, costs.scheduler / 2
    stations = {"coordinator": Station(1), "scheduler": Station(1)}
    stations["worker"] = Station(workers)
    way = (
        ("coordinator", coordinator),
        ("scheduler", scheduler),
        ("worker", costs.worker + seconds),
        ("scheduler", scheduler),
        ("coordinator", coordinator),
    )
    under_way = AHEAD * workers * costs.batch
    total = under_way + max(20_000, 20 * workers, under_way)
    events: list[tuple[float, int, int]] = []  # when a stage of the way ends, for which cell, which stage
    done, first = 0, 0.0

    def enter(now: float, number: int, stage: int) -> None:
        place, takes = way[stage]
        if stations[place].take(number, stage, takes):
            heapq.heappush(events, (now + takes, number, stage))

    for number in range(under_way):
        enter(0.0, number, 0)
    number = under_way
    while True:
        now, ended, stage = heapq.heappop(events)
        if (following := stations[way[stage][0]].free()) is not None:
            heapq.heappush(events, (now + following[2], following[0], following[1]))
        if stage + 1 < len(way):
            enter(now, ended, stage + 1)
            continue
        done += 1
        if done == under_way:
            first = now
        if done == total:
            return (total - under_way) / (now - first)
        enter(now, number, 0)
        number += 1


@dataclass
class Station:
    """What so many cells can be at; others wait in a queue."""

    free_places: int
    queue: deque[tuple[int, int, float]] = field(default_factory=deque[tuple[int, int, float]])

    def take(self, number: int, stage: int, seconds: float) -> bool:
        """Whether the cell begins at once."""
        if self.free_places:
            self.free_places -= 1
            return True
        self.queue.append((number, stage, seconds))
        return False

    def free(self) -> tuple[int, int, float] | None:
        """Who is next, when one is done."""
        if self.queue:
            return self.queue.popleft()
        self.free_places += 1
        return None


def tables(alone: Costs, together: Costs, count: int) -> dict[str, str]:
    """The page's tables, by name."""

    def row(words: str, number: Callable[[Costs], float], digits: int = 2) -> str:
        return f"| {words} | {1e3 * number(alone):.{digits}f} ms | {1e3 * number(together):.{digits}f} ms |"

    rows = [
        f"| of a cell without work | alone | in batches of {together.batch} |",
        "|---|---|---|",
        row("making a cell of its specification", lambda one: one.making),
        row("the sweep's own process: submitting, taking the result", lambda one: one.coordinator),
        row("the scheduler", lambda one: one.scheduler),
        row("a worker", lambda one: one.worker),
        row("keeping the result (SQLite)", lambda one: one.keeping),
        row("all of it", lambda one: one.coordinator + one.scheduler + one.worker + one.keeping),
        row(f"by the clock, {count} cells on two workers", lambda one: one.wall),
    ]
    measured = "\n".join(rows)
    head = (
        "| cell's own work | cells in a batch | "
        + " | ".join(f"{one:,} workers" for one in WORKERS)
        + " | workers kept busy |\n"
    )
    head += "|---|" + "---|" * (len(WORKERS) + 2) + "\n"
    lines: list[str] = []
    for seconds in SECONDS:
        size = max(1, min(together.batch, int(cluster._BATCH / seconds)))
        costs = together.in_batches_of(alone, size)
        bottleneck = max(costs.scheduler, costs.coordinator + costs.keeping)
        shown = [span(CELLS / rate(costs, workers, seconds)) for workers in WORKERS]
        most = (seconds + costs.worker) / bottleneck
        lines.append(f"| {seconds:g} s | {size} | " + " | ".join(shown) + f" | {most:,.0f} |")
    ahead = CELLS * together.making, CELLS * together.kilobytes / 1e6
    before = (
        f"Before the first of 10^6 cells begins, the sweep's process works for {span(ahead[0])} and then "
        f"holds {ahead[1]:.1f} GB."
    )
    return {"measured": measured, "extrapolated": head + "\n".join(lines), "before": before}


def span(seconds: float) -> str:
    """A time in words of two figures or so."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--page"]
    count = int(words[0]) if words else 1000
    largest = cluster._MOST
    found = tables(measure(count, 1), measure(count, largest), count)
    print("\n\n".join(found.values()))
    if "--page" in sys.argv:
        text = PAGE.read_text("utf-8")
        for name, table in found.items():
            shown = f"<!-- {name} -->\n{table}\n<!-- end -->"
            text = re.sub(rf"<!-- {name} -->.*?<!-- end -->", lambda _, new=shown: new, text, flags=re.DOTALL)
        PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
