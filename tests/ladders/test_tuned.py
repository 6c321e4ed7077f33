"""Tuned parameters: which row of a ladder's tuned.toml counts, and that the files say what they must."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from bench.gpu import tune
from tests.ladders.device_place import EngineDevice, EngineTimer
from warpglass import ladders
from warpglass.ladders import find_ladder, tuned
from warpglass.ladders.ship import NoDevice
from warpglass.ladders.trial import Options, Toolchain
from warpglass.source import from_numba, load

TEXT = """
[fast]
command = "python bench/gpu/tune.py scan fast"
space = { block = [128, 256], items = [4, 8] }

[fast."9.0"]
float64 = { block = 256, items = 4 }
4_bytes = { block = 128, items = 8 }
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "tuned.toml"
    path.write_text(TEXT)
    monkeypatch.setattr(tuned, "tuned_file", lambda ladder: path)
    monkeypatch.setattr(tuned, "read_tuned", tuned.read_tuned.__wrapped__)
    return path


@pytest.mark.parametrize(
    ("rung", "dtype", "capability", "found"),
    [
        ("fast", "float64", (9, 0), {"block": 256, "items": 4}),
        ("fast", "int32", (9, 0), {"block": 128, "items": 8}),
        ("fast", "uint8", (9, 0), {}),
        ("fast", "float64", (8, 0), {}),
        ("fast", "float64", None, {}),
        ("slow", "float64", (9, 0), {}),
    ],
)
def test_a_type_goes_before_its_size_and_what_is_unknown_is_left_to_the_plan(
    file: Path, rung: str, dtype: str, capability: Any, found: dict[str, int]
) -> None:
    assert tuned.tuned("scan", rung, dtype, capability) == found


def test_other_values_are_tried_for_one_rung(file: Path) -> None:
    with tuned.trying("scan", "fast", {"block": 64}):
        assert tuned.tuned("scan", "fast", "float64", None) == {"block": 64}
        assert tuned.tuned("scan", "slow", "float64", (9, 0)) == {}
    assert tuned.tuned("scan", "fast", "float64", None) == {}


@pytest.mark.parametrize("name", ladders.ladder_names())
def test_tuned_rungs_exist_and_their_rows_lie_in_the_space(name: str) -> None:
    ladder = find_ladder(name)
    known = {rung.name for rung in ladder.rungs(Options(as_written=True))}
    for rung, table in tuned.read_tuned(name).items():
        assert rung in known
        assert table["command"].startswith(f"python bench/gpu/tune.py {name} {rung}")
        rows = [
            row for key, rows in table.items() if key not in ("command", "space") for row in rows.values()
        ]
        for row in rows:
            assert all(value in table["space"][parameter] for parameter, value in row.items()), (rung, row)


# ------------------------------------------------------------------------------------------ the sweep
def test_types_of_one_size_share_a_row_where_they_agree() -> None:
    few, many = {"block": 128}, {"block": 256}
    best = {"float32": few, "int32": few, "float64": few, "int64": many}
    assert tune.rows_of(best) == {"4_bytes": few, "float64": few, "int64": many}


def test_rows_take_the_place_of_older_ones(tmp_path: Path) -> None:
    once = tune.with_rows(TEXT, "fast", (9, 0), {"8_bytes": {"block": 128, "items": 4}})
    assert "float64" not in once
    assert once.startswith(TEXT[: TEXT.index('[fast."9.0"]')])
    path = tmp_path / "tuned.toml"
    path.write_text(tune.with_rows(once, "fast", (8, 0), {"4_bytes": {"block": 256, "items": 8}}))
    read = tomllib.loads(path.read_text())["fast"]
    assert read["9.0"] == {"8_bytes": {"block": 128, "items": 4}}
    assert read["8.0"] == {"4_bytes": {"block": 256, "items": 8}}
    assert read["command"]


def test_the_sweep_measures_every_combination(monkeypatch: pytest.MonkeyPatch) -> None:
    space = {"warp_shuffle": {"space": {"block": [128, 256], "items": [4, 8]}}}
    monkeypatch.setattr(tune, "read_tuned", lambda ladder: space)
    tried: list[Any] = []
    real = tuned.trying

    def watched(ladder: str, rung: str, parameters: dict[str, int]) -> Any:
        tried.append(parameters)
        return real(ladder, rung, parameters)

    monkeypatch.setattr(tune, "trying", watched)
    device = EngineDevice(EngineTimer(lambda: 1e-3 * len(tried)))
    every = tune.combinations(space["warp_shuffle"]["space"])
    assert tune.best_of("scan", "warp_shuffle", "float32", [5003], device) in every
    assert all(one in tried for one in every)


@pytest.mark.parametrize(("asked", "block"), [(None, 1024), (128, 128)])
def test_a_tuned_block_holds_unless_another_is_asked_for(asked: int | None, block: int) -> None:
    options = Options(rungs=("lane_bins",), size=1000, block=asked, dtype="uint8")
    trials = find_ladder("histogram").trials(options, NoDevice((9, 0)), Toolchain(load, from_numba))
    shapes = [trial.card.shape for trial in trials if trial.card.rung == "lane_bins"]
    assert [shape.block for shape in shapes if shape] == [block]
