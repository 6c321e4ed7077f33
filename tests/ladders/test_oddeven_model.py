"""The notes' cost model: its formulas against its own figures, and what is printed beside a bench."""

from __future__ import annotations

from dataclasses import replace

import pytest

from warpglass.lab import bench as lab_bench
from warpglass.ladders.measure import Forecast
from warpglass.ladders.oddeven_sort.model import Costs, Waves
from warpglass.ladders.oddeven_sort.view import cost_model
from warpglass.report.console import text_console, text_of
from warpglass.report.forecast import format_duration, print_forecast


def test_the_formulas() -> None:
    # Comparisons that take 2 ns in a block and 4 ns on the host; 8 multiprocessors share the blocks' work.
    span, size = 1024, 16 * 1024
    block, host = 2e-9 * span**2 / 2, 4e-9 * size**2 / 2
    costs = Costs(span, size, block, host, grid_seconds=31 * 16 * block / 8)
    assert costs.blocks == 16
    assert costs.alpha == pytest.approx(2e-9)
    assert costs.block_ratio == pytest.approx(2.0)
    assert costs.one_by_one == pytest.approx(31 * 16 * block)
    # N^2 for (2G - 1) G B^2 / 2 makes a difference of 1 / 2G.
    assert costs.multiprocessors == pytest.approx(8 * 32 / 31)
    assert costs.comparisons_per_element_moved == 256


def test_the_notes_count_multiprocessors() -> None:
    # 131072 floats in 1.33 s on an 8800 GTX Ultra, 22.94 s on the host; R1 = 1.9: 16 multiprocessors.
    size, span, ratio = 131072, 1024, 1.9
    beta = 2 * 22.94 / size**2
    costs = Costs(span, size, beta / ratio * span**2 / 2, 22.94, 1.33)
    assert costs.grid_ratio == pytest.approx(17.2481, abs=1e-3)
    assert costs.multiprocessors == pytest.approx(2 * 17.248 / 1.9, abs=0.01)


@pytest.mark.parametrize(
    ("blocks", "count", "idle", "busy"), [(128, 5, 22, 128 / 150), (256, 9, 14, 256 / 270), (30, 1, 0, 1.0)]
)
def test_waves_on_thirty_multiprocessors(blocks: int, count: int, idle: int, busy: float) -> None:
    waves = Waves(blocks, 30)
    assert (waves.count, waves.idle, waves.busy) == (count, idle, pytest.approx(busy))


def test_the_model_is_printed_below_the_tables() -> None:
    result = lab_bench.bench(
        "oddeven_sort",
        size=300,
        block=32,
        device="cpu",
        repeat=1,
        language="cuda",
        counters=False,
        peers=False,
    )
    text = result.table()
    assert "MP = 2 RG / R1" in text
    assert "multi_block_split" in text.split("cost model")[1]
    # Without the rung that times the host there is no model.
    rows = tuple(row for row in result.rows if row.rung != "host_oddeven")
    assert cost_model(replace(result.record, rows=rows)) == ()


def test_a_long_bench_says_first_how_long() -> None:
    seen: list[str] = []

    def announce(forecast: Forecast) -> None:
        console = text_console(400)
        print_forecast(replace(forecast, runs=10**9), console)
        seen.append(text_of(console))

    lab_bench.bench(
        "oddeven_sort", size=20_000, repeat=1, language="cuda", rungs=("host_oddeven",), announce=announce
    )
    assert seen[0].startswith("20000 instead of 16384 elements: about ")
    assert "host_oddeven (Python)" in seen[0]
    lab_bench.bench("oddeven_sort", size=1000, repeat=1, rungs=("host_oddeven",), announce=announce)
    lab_bench.bench("vector", size=1000, repeat=1, rungs=("on_host",), announce=announce)
    assert len(seen) == 1, "a smaller size, or work that grows with the size, needs no warning"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "less than 1 s"), (42.3, "about 42 s"), (230, "about 4 min"), (9000, "about 2.5 h")],
)
def test_durations(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
