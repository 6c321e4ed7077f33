"""The bench: what it does with good, wrong and failing trials, and the record it leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import warpglass as wg
from warpglass.engine.launch.backend import Launch, Outcome
from warpglass.errors import ArgumentError, LaunchError
from warpglass.ladders.measure import add_speedups, run_bench
from warpglass.ladders.trial import Options, Toolchain
from warpglass.records import bench as record


class FakeSource:
    """A kernel that is never looked at."""

    name = "fake"
    language = "cuda"

    def compile(self, args: Any) -> Any:
        return self


class FakeBackend:
    """Adds up by itself, as a correct kernel would, or misbehaves as told; every launch takes longer."""

    name = "cpu"
    description = "a fake device"

    def __init__(self, wrong: bool = False, failing: bool = False):
        self.wrong, self.failing = wrong, failing
        self.launches = self.resets = 0

    def run(self, launch: Launch) -> Outcome:
        if self.failing:
            raise LaunchError("no such luck", cuda_name="cudaErrorUnknown", synchronous=False, sticky=True)
        self.launches += 1
        source, partial, count = launch.args[:3]
        partial[:] = 0  # pyright: ignore[reportIndexIssue]
        partial[0] = source[: int(count)].sum() + self.wrong  # pyright: ignore
        source[:] = -1  # pyright: ignore[reportIndexIssue]  # in place kernels destroy their input
        return Outcome(seconds=float(self.launches), label="engine")

    def read_variable(self, compiled: object, symbol: str) -> bytes | None:
        return None

    def to_device(self, array: Any) -> Any:
        return array

    def to_host(self, array: Any) -> Any:
        return array

    def copy(self, source: Any, target: Any) -> None:
        target[:] = source

    def part(self, array: Any, start: int, stop: int | None = None) -> Any:
        return array[start:stop]

    def flush_caches(self) -> None:
        pass

    def reset(self) -> None:
        self.resets += 1


TOOLCHAIN = Toolchain(open_cuda=lambda path, name: FakeSource(), open_python=lambda function: FakeSource())  # pyright: ignore


def run_fake(backend: FakeBackend, repeat: int = 3, **options: Any):
    chosen = Options(**{"size": 64, "rungs": ("neighbored", "interleaved"), **options})
    return run_bench("reduction", chosen, backend=backend, toolchain=TOOLCHAIN, version="0", repeat=repeat)


def test_seconds_are_the_median_without_the_warm_up() -> None:
    rows = run_fake(FakeBackend(), languages=("cuda",)).rows
    assert rows[0].repeats == (2.0, 3.0, 4.0)
    assert rows[0].seconds == 3.0
    assert rows[0].gb_per_s == pytest.approx(64 * 8 / 1e9 / 3)
    assert rows[0].gflop_per_s == pytest.approx(63 / 1e9 / 3)


def test_input_is_restored_before_every_repeat() -> None:
    bench = run_fake(FakeBackend())
    assert bench.verified
    assert all(row.error is not None and row.error <= (row.bound or 0) for row in bench.rows)


def test_wrong_result_is_not_verified() -> None:
    bench = run_fake(FakeBackend(wrong=True))
    assert not bench.verified
    assert [row.verified for row in bench.rows] == [False] * 4
    assert bench.rows[0].error == pytest.approx(1)


def test_failing_launch_becomes_a_row_and_the_device_is_reset() -> None:
    backend = FakeBackend(failing=True)
    bench = run_fake(backend)
    assert [row.failure for row in bench.rows] == ["no such luck"] * 4
    assert backend.resets == 4
    assert not bench.verified
    assert bench.rows[0].seconds is None
    assert "no such luck" in bench.table()


def test_a_bench_has_the_rungs_that_ran() -> None:
    bench = run_fake(FakeBackend(), repeat=1, rungs=("warp_shuffle", "vector_loads"), languages=("python",))
    assert [rung.name for rung in bench.rungs] == ["warp_shuffle"]
    assert list(bench.record.explanations) == ["warp_shuffle"]


def test_second_launch_reduces_the_partial_sums() -> None:
    backend = FakeBackend()
    rungs = ("shared_sequential",)
    bench = run_fake(backend, repeat=1, size=100_000, rungs=rungs, final="launch", languages=("cuda",))
    # 100000 / 128 = 782 blocks, 782 / 128 = 7, 1: three launches, twice
    assert backend.launches == 6
    assert bench.rows[0].final == "launch"


def test_progress_counts_to_the_end() -> None:
    seen: list[tuple[int, int, str]] = []
    options = Options(size=64, rungs=("neighbored",), peers=False)
    run_bench(
        "reduction",
        options,
        backend=FakeBackend(),
        toolchain=TOOLCHAIN,
        version="0",
        progress=lambda *step: seen.append(step),
    )
    assert seen == [(0, 2, "neighbored (cuda)"), (1, 2, "neighbored (python)"), (2, 2, "")]


def test_speedups_are_within_a_language_and_skip_failures() -> None:
    row = run_fake(FakeBackend(), languages=("cuda",)).rows[0]
    times = [("cuda", 8.0), ("cuda", None), ("cuda", 2.0), ("python", 6.0), ("cuda", 1.0), ("python", 3.0)]
    blank = replace(row, step_speedup=None, cumulative_speedup=None)
    rows = add_speedups([replace(blank, language=language, seconds=seconds) for language, seconds in times])
    assert [row.step_speedup for row in rows] == [1.0, None, 4.0, 1.0, 2.0, 2.0]
    assert [row.cumulative_speedup for row in rows] == [1.0, None, 4.0, 1.0, 8.0, 2.0]


def test_no_repeat_is_refused() -> None:
    with pytest.raises(ArgumentError, match="repeat"):
        run_fake(FakeBackend(), repeat=0)


def test_public_bench_runs_the_whole_ladder() -> None:
    bench = wg.bench("reduction", size=10_007, device="cpu", repeat=1)
    assert bench.verified
    assert len(bench.rows) == 1 + 9 * 2 + 3 * 2 + 3 * 2 + 2
    assert {row.label for row in bench.rows} == {"engine", "host"}
    table = bench.table()
    assert "complete_unroll<double, 512>" in table
    assert "shared_sequential<int>" in table


def test_public_bench_refuses_unknown_words() -> None:
    with pytest.raises(ArgumentError, match="one of"):
        wg.bench("reduction", language="fortran")
    with pytest.raises(ArgumentError, match="one of"):
        wg.bench("reduction", final="never")
    with pytest.raises(ArgumentError, match="no ladder"):
        wg.bench("ascension")


def test_record_survives_a_round_trip(tmp_path: Path) -> None:
    bench = run_fake(FakeBackend())
    path = tmp_path / "new" / "bench.json"
    bench.record.save(path)
    assert record.load(path) == bench.record
    data = json.loads(bench.to_json())
    assert data["device"] == "a fake device"
    expected = {"rung", "language", "kernel", "grid", "block", "seconds", "label", "sum", "verified"}
    assert expected <= set(data["rows"][0])


def test_record_of_another_schema_is_refused() -> None:
    data = json.loads(run_fake(FakeBackend()).to_json())
    with pytest.raises(wg.WarpglassError, match="schema 99"):
        record.from_json(json.dumps({**data, "schema": 99}))
    with pytest.raises(wg.WarpglassError, match="record is no record: it is a list"):
        record.from_json("[]")


def test_record_writes_no_nan() -> None:
    row = replace(run_fake(FakeBackend()).rows[0], sum=float("nan"), error=float("inf"))
    text = record.Record(ladder="x", device="x", backend="cpu", version="0", rows=(row,)).to_json()
    assert json.loads(text)["rows"][0]["sum"] is None


def test_transfers_are_timed_apart_or_included() -> None:
    class Remote(FakeBackend):
        name = "gpu"

    apart = run_fake(Remote(), languages=("cuda",)).rows[0]
    assert apart.seconds == 3.0
    assert apart.transfer_seconds is not None
    options = Options(size=64, rungs=("neighbored",), languages=("cuda",), peers=False)
    (row,) = run_bench(
        "reduction", options, backend=Remote(), toolchain=TOOLCHAIN, version="0", repeat=3, transfers=True
    ).rows
    assert row.transfer_seconds is not None
    assert row.seconds is not None
    assert row.seconds == 3.0 + row.transfer_seconds
    assert row.gb_per_s == pytest.approx(64 * 8 / 1e9 / row.seconds)


def test_the_engine_copies_nothing() -> None:
    assert run_fake(FakeBackend()).rows[0].transfer_seconds is None


def test_bytes_that_a_program_copies_are_known_on_the_engine_too() -> None:
    """64 doubles go to the device; the host reads the sum of their one block."""
    row = next(row for row in run_fake(FakeBackend()).rows if row.grid is not None)
    assert row.copied == (64 * 8, 8)
