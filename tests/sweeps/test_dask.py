"""Sweeps on a Dask cluster: results as on processes, none lost or doubled when workers are killed."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import warpglass as wg
from tests.levels import LEVEL
from warpglass import ArgumentError
from warpglass.errors import PackageError
from warpglass.sweeps.cluster import _Batches, on_dask
from warpglass.sweeps.spec import make
from warpglass.sweeps.work import DONE, ENDED, FAILED, LOST, Outcome

distributed: Any = pytest.importorskip("distributed")
KERNEL = 'extern "C" __global__ void fill(int *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = n; }'
CELLS, KILLS = {"quick": (30, 1), "ci": (30, 1), "full": (2000, 20)}[LEVEL]


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(KERNEL)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as made,
    ):
        yield made


def _spec(cells: int) -> dict[str, Any]:
    launch = {"grid": 1, "block": 32, "args": ["i4[32]", "i4={n}"]}
    return {
        "sweep": {"do": "counters", "metrics": ["gst_transactions"]},
        "axes": {"n": list(range(cells))},
        "kernel": {"kernel": "k.cu:fill", **launch},
    }


def test_killed_workers_lose_and_double_nothing(cluster: Any) -> None:
    stop = threading.Event()

    def kill() -> None:
        for _ in range(KILLS):
            if stop.wait(random.uniform(0.1, 1.0)):
                return
            process = random.choice(list(cluster.workers.values())).process
            if process is not None and process.pid:
                os.kill(process.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    seen: list[str] = []
    found = wg.sweep(
        _spec(CELLS),
        results="dask.sqlite",
        dask=cluster.scheduler_address,
        progress=lambda done, count, what: seen.append(what),
    )
    stop.set()
    killer.join()
    assert {row.status for row in found.rows} == {"done"}
    assert len(seen) == len(set(seen)) == len(found.rows) == CELLS
    with sqlite3.connect("dask.sqlite") as base:
        assert base.execute("SELECT count(*), max(attempts) FROM results").fetchone() == (CELLS, 1)
    local = wg.sweep(_spec(8), results="local.sqlite", workers=1)
    plain = {name: value for name, value in local.rows[5].numbers.items() if name != "seconds"}
    assert plain == found.rows[5].numbers
    assert [row.numbers for row in local.rows] == [row.numbers for row in found.rows[:8]]


@pytest.mark.least("full")
def test_a_scheduler_that_comes_back_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scheduler and worker are killed in the middle; both begin again at the same address."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(KERNEL)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    spoken = ("--no-dashboard", "--host", address)
    worker = (address, "--nthreads", "1", "--no-dashboard", "--local-directory", str(tmp_path))

    def begin() -> list[subprocess.Popen[Any]]:
        return [_command("scheduler", *spoken), _command("worker", *worker)]

    running = begin()
    seen: list[str] = []

    def progress(done: int, count: int, what: str) -> None:
        seen.append(what)
        if done == 3:
            _end(running)
            running[:] = begin()

    try:
        monkeypatch.setattr("warpglass.sweeps.cluster._CONNECT", 60.0)
        found = wg.sweep(_spec(12), results="dask.sqlite", dask=address, progress=progress)
    finally:
        _end(running)
    assert [(row.status, row.text) for row in found.rows] == [("done", "")] * 12
    assert len(seen) == len(set(seen)) == 12
    with sqlite3.connect("dask.sqlite") as base:
        assert base.execute("SELECT count(*), max(attempts) FROM results").fetchone() == (12, 1)


def _command(*words: str) -> subprocess.Popen[Any]:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    return subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]], **quiet)


def _end(running: list[subprocess.Popen[Any]]) -> None:
    for process in running:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _harmful(job: Any) -> Outcome:
    """A job that fails, ends its process, hangs, or does nothing of all that."""
    match job.axes[0][1]:
        case 3:
            raise ValueError("a defect")
        case 5:
            os._exit(7)
        case 8:
            time.sleep(1000)
    return Outcome(job.key, DONE)


@pytest.mark.turns(3)
def test_what_a_job_does_to_its_process_harms_no_other(cluster: Any) -> None:
    cells = list(make(_spec(20)).cells())
    workers = {one.process.pid for one in cluster.workers.values()}
    done = on_dask(
        cells, cluster.scheduler_address, _harmful, lambda job: 2.0 if job.axes[0][1] == 8 else 60.0
    )
    found = {job.axes[0][1]: outcome for job, outcome in done}
    assert len(found) == 20
    wrong = {n: (outcome.status, outcome.text) for n, outcome in found.items() if outcome.status != DONE}
    assert wrong == {
        3: (FAILED, "ValueError: a defect"),
        5: (LOST, "the process that did it ended with status 7"),
        8: (ENDED, "ended after 2 s"),
    }
    assert {one.process.pid for one in cluster.workers.values()} == workers


def _killer(job: Any) -> Outcome:
    """A job that ends its worker, whichever that is, if it is the one."""
    if job.axes[0][1] == 5:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
    return Outcome(job.key, DONE)


@pytest.mark.least("full")
def test_what_ends_its_workers_ends_no_other_job(cluster: Any) -> None:
    cells = list(make(_spec(200)).cells())
    done = on_dask(cells, cluster.scheduler_address, _killer, lambda job: 60.0)
    found = {job.axes[0][1]: outcome for job, outcome in done}
    assert len(found) == 200
    wrong = {n: (outcome.status, outcome.text) for n, outcome in found.items() if outcome.status != DONE}
    assert wrong.keys() == {5}, wrong
    assert wrong[5][0] == LOST


@dataclass(frozen=True)
class _Plain:
    """A job that is nothing but a key."""

    key: str


@pytest.mark.parametrize(("seconds", "size"), [(0.0, 64), (0.1, 5), (0.3, 1), (60.0, 1)])
def test_batches_hold_about_half_a_second(seconds: float, size: int) -> None:
    batches = _Batches([_Plain(str(number)) for number in range(1000)])
    first = batches.next(2) or ""
    assert first == "warpglass-0-1"  # nothing is known yet
    ended = list(batches.ended(first, [Outcome("0", DONE, seconds=seconds)]))
    assert [job.key for job, _ in ended] == ["0"]
    second = batches.next(2) or ""
    assert second == f"warpglass-1-{size}"
    assert not list(batches.lost(second, LOST, "KilledWorker"))
    rest = list(iter(lambda: batches.next(2), None))
    assert len(batches.under_way[rest[-1]]) == 1  # the last ones are shared out
    assert sum(map(len, batches.under_way.values())) == 999 - size
    for key in rest:
        done = [Outcome(job.key, DONE) for job in batches.under_way[key]]
        assert len(list(batches.ended(key, done))) == len(done)
    for number in range(size, 1, -1):  # when all others have ended, one at a time
        assert (batches.next(2), batches.next(2)) == (f"warpglass-{number}-only", None)
        assert len(list(batches.ended(f"warpglass-{number}-only", [Outcome(str(number), DONE)]))) == 1
    ((job, outcome),) = batches.lost(batches.next(2) or "", LOST, "KilledWorker")
    assert (job.key, outcome.status) == ("1", LOST)
    assert batches.next(2) is None


def test_without_dask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(KERNEL)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(PackageError, match="need distributed: pip install"):
        wg.sweep(_spec(1), dask="tcp://127.0.0.1:9")


def test_an_address_where_nobody_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(KERNEL)
    monkeypatch.setattr("warpglass.sweeps.cluster._CONNECT", 0.5)
    with pytest.raises(ArgumentError, match="there is no Dask scheduler at 'tcp://127.0.0.1:9'"):
        wg.sweep(_spec(1), dask="tcp://127.0.0.1:9")
