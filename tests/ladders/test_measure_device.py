"""Measuring on a device: rounds, verdicts there, clocks that change, short kernels in a row."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpglass as wg
from bench.gpu import page
from tests.ladders.device_place import EngineDevice, EngineTimer
from tests.ladders.watching import TOOLCHAIN
from warpglass.engine.launch.backend import Clock, DeviceBackend
from warpglass.ladders import device_verdicts
from warpglass.ladders.device_verdicts import DeviceVerdicts
from warpglass.ladders.measure import Bench, run_bench
from warpglass.ladders.problem import Expected
from warpglass.ladders.sampling import Patience, Samples, noise_of
from warpglass.ladders.trial import Options
from warpglass.ladders.verdicts import judge
from warpglass.report.figures import format_seconds


def race(ladder: str, timer: EngineTimer, repeat: int = 3, **options: Any) -> Bench:
    chosen = Options(**{"small": True, "languages": ("cuda",), "peers": False, **options})
    device = EngineDevice(timer)
    return run_bench(ladder, chosen, backend=device, toolchain=TOOLCHAIN, version="0", repeat=repeat)


# ------------------------------------------------------------------------------------------ samples
def test_samples_end_when_the_median_is_known_or_the_patience_over() -> None:
    steady = Samples(Patience(least=5), [1.0, 1.001, 1.0, 0.999])
    assert not steady.enough
    steady.seconds.append(1.0)
    assert steady.enough
    noisy = Samples(Patience(least=5, seconds=1.0), [1.0, 2.0] * 10)
    assert not noisy.enough
    noisy.spent = 1.5
    assert noisy.enough
    assert Samples(Patience(most=2), [1.0, 2.0]).enough


def test_noise_is_a_standard_deviation_without_outliers() -> None:
    times = np.random.default_rng(0).normal(1.0, 0.02, 5001)
    assert noise_of(times.tolist()) == pytest.approx(0.02, rel=0.05)
    assert noise_of([*times.tolist(), *[9.0] * 50]) == pytest.approx(0.02, rel=0.1)
    assert noise_of([3.0]) == 0


# ------------------------------------------------------------------------------------------ measuring
def test_the_fake_is_a_device() -> None:
    assert isinstance(EngineDevice(), DeviceBackend)


@pytest.mark.parametrize("ladder", ["scan", "reduction", "sort", "histogram", "dot"])
def test_all_rungs_are_measured_and_right(ladder: str) -> None:
    bench = race(ladder, EngineTimer(lambda: 1e-3))
    assert bench.verified, bench.table()
    for row in bench.rows:
        if row.grid is not None:
            assert row.label == "gpu"
            assert row.noise == 0 or row.language == "python" or ladder == "dot"
            assert row.in_a_row == 1
            assert row.clock_mhz == 1980


def test_short_kernels_are_timed_in_a_row() -> None:
    timer = EngineTimer(lambda: 4e-6)
    bench = race("scan", timer, rungs=("warp_shuffle", "hillis_steele"))
    assert {row.in_a_row for row in bench.rows} == {25}
    assert max(timer.rows) == 25
    assert "many in a row" in bench.table()


def test_runs_that_destroy_their_input_are_timed_one_by_one() -> None:
    timer = EngineTimer(lambda: 4e-6)
    bench = race("reduction", timer, rungs=("neighbored", "interleaved"))
    assert {row.in_a_row for row in bench.rows} == {1}
    assert set(timer.rows) == {1}
    assert bench.verified


def test_rounds_under_a_clock_that_changes_are_thrown_away() -> None:
    def clocks() -> Iterator[Clock]:
        yield from (Clock(1980), Clock(1200), Clock(1980), Clock(1980, ("power cap",)))
        while True:
            yield Clock(1980)

    seconds = itertools.chain([1.0] * 6, itertools.repeat(1e-3))
    bench = race("scan", EngineTimer(lambda: next(seconds), clocks()), rungs=("warp_shuffle",))
    (row,) = bench.rows
    assert row.seconds == pytest.approx(1e-3)
    assert set(row.repeats) == {1e-3}
    assert row.held_back_by == ()


def test_a_clock_that_stays_held_back_is_told() -> None:
    timer = EngineTimer(lambda: 1e-3, itertools.repeat(Clock(1500, ("power cap",))))
    bench = race("scan", timer, rungs=("warp_shuffle",))
    (row,) = bench.rows
    assert (row.clock_mhz, row.held_back_by) == (1500, ("power cap",))
    assert "The clock was held back by power cap for warp_shuffle" in bench.table()


def test_progress_says_what_runs() -> None:
    seen: list[tuple[int, int, str]] = []
    options = Options(small=True, languages=("cuda",), peers=False, rungs=("warp_shuffle",))
    run_bench(
        "scan",
        options,
        backend=EngineDevice(EngineTimer(lambda: 1e-3)),
        toolchain=TOOLCHAIN,
        version="0",
        progress=lambda *step: seen.append(step),
    )
    assert [what for _, _, what in seen][:2] == ["making the inputs", "warp_shuffle (cuda)"]
    assert seen[-1][0] == seen[-1][1]


def test_a_kernel_that_fails_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "bad.cu"
    path.write_text(
        "template <typename T> __global__ void mine(const T* x, T* y, unsigned n) { y[n + 999999] = x[0]; }\n"
    )
    bench = race("scan", EngineTimer(lambda: 1e-3), rungs=("on_host",), added=((path, "mine<float>"),))
    assert bench.rows[0].verified
    assert bench.rows[1].failure is not None


@pytest.mark.gpu
@pytest.mark.parametrize("ladder", ["scan", "reduction", "sort", "vector"])
def test_a_gpu_is_measured(ladder: str) -> None:
    bench = wg.bench(ladder, size=2**20, device="gpu", repeat=3, language="cuda")
    assert bench.verified, bench.table()
    for row in (*bench.rows, *bench.record.peers):
        assert row.verified, row
        if row.grid is not None:
            assert row.noise is not None
            assert row.noise < 0.2
            assert len(row.repeats) >= 3


@pytest.mark.gpu
@pytest.mark.least("full")
@pytest.mark.parametrize("ladder", ["reduction", "dot", "scan"])
def test_sums_of_libraries_are_right_at_large_sizes(ladder: str) -> None:
    bench = wg.bench(ladder, size=2**28, dtype="float32", device="gpu", repeat=3, language="cuda")
    assert bench.verified, bench.table()
    assert all(row.verified for row in bench.record.peers), bench.table()


# ------------------------------------------------------------------------------------------ verdicts
@pytest.mark.parametrize(
    ("dtype", "truth"),
    [
        ("float32", "float64"),
        ("float64", "float64"),
        ("int32", "int32"),
        ("int64", "uint32"),
        ("uint8", "uint8"),
    ],
)
@pytest.mark.parametrize("wrong", [(), (0,), (4095,), (70_000, 70_001)])
def test_the_device_judges_as_numpy_does(
    monkeypatch: pytest.MonkeyPatch, dtype: str, truth: str, wrong: tuple[int, ...]
) -> None:
    monkeypatch.setattr(device_verdicts, "_LARGE", 0)
    rng = np.random.default_rng(5)
    value = rng.integers(0, 100, 70_003).astype(truth)
    found = value.astype(dtype)
    found[::7] += found.dtype.type(1)
    bound: Any = np.where(np.arange(value.size) % 7 == 0, 0.5, 0.0)
    if found.dtype.kind == "f":
        value[5] = found[5] = np.nan
        value[6] = found[6] = np.inf
    for place in wrong:
        found[place] += found.dtype.type(17)
    expected = {"y": Expected(value, bound, 4.0)}
    device = DeviceVerdicts(EngineDevice(), TOOLCHAIN)
    assert device.judge({"y": found}, expected) == judge({"y": found}, expected)


def test_what_the_kernel_does_not_take_is_judged_by_numpy() -> None:
    value = np.ones((2, 3), np.float16)
    verdict = DeviceVerdicts(EngineDevice(), TOOLCHAIN).judge({"y": value}, {"y": Expected(value)})
    assert verdict.verified
    empty = np.zeros((0, 3), np.float32)
    assert DeviceVerdicts(EngineDevice(), TOOLCHAIN).judge({"y": empty}, {"y": Expected(empty)}).verified


def test_others_go_on_after_a_kernel_that_failed(tmp_path: Path) -> None:
    path = tmp_path / "bad.cu"
    path.write_text(
        "template <typename T> __global__ void mine(const T* x, T* y, unsigned n) { y[n + 999999] = x[0]; }\n"
    )
    timer = EngineTimer(lambda: 1e-3)
    rungs = ("hillis_steele", "warp_shuffle")
    bench = race("scan", timer, rungs=rungs, added=((path, "mine<float>"),))
    assert [(row.rung, row.verified) for row in bench.rows] == [
        ("hillis_steele", True),
        ("warp_shuffle", True),
        ("mine<float>", False),
    ]
    assert all(row.repeats for row in bench.rows[:2])


def test_the_page_of_the_gpu_has_the_fastest_rung_that_is_right() -> None:
    seconds = (k * 1e-3 for k in itertools.count(1))
    record = race("scan", EngineTimer(lambda: next(seconds)), rungs=("warp_shuffle", "hillis_steele")).record
    first, second = record.rows
    library = replace(first, language="torch", seconds=2 * (first.seconds or 0), grid=None)
    race_of = page.RACES[0]
    raced = replace(record, rows=(replace(second, verified=False), first), peers=(library,))
    text = page.line(race_of, raced, 4e12)
    assert f"| {first.rung} |" in text
    assert text.endswith(f"| - | - | 2.00 ({format_seconds(library.seconds)}) |")
    none = page.line(race_of, replace(raced, rows=()), 4e12)
    assert none.count("|") == text.count("|")
    assert page.last_rungs(race_of)
