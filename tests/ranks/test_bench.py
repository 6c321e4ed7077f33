"""The bench of several devices, on the engine: its table, its verdicts, what it refuses."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from warpglass import ArgumentError
from warpglass.cli import app
from warpglass.ranks import bench, pipes


@pytest.mark.sampled(quick=6, ci=6)
@pytest.mark.parametrize("name", bench.BENCHES)
def test_a_wrong_result_is_found(name: str) -> None:
    """Of one rank; one element is changed."""
    here = pipes.Pipes(0, {})
    work = bench.BENCHES[name]
    shares = work.make(here, 512, "float32")
    found = np.array(work.do(here, *shares))
    assert work.right(here, found, *shares)
    found.reshape(-1)[found.size // 2 if found.size > 1 and name != "conv2d" else 0] += 60
    assert not work.right(here, found, *shares)


@pytest.mark.least("full")
def test_the_table() -> None:
    words = ["bench", "--all", "--devices", "cpu,cpu,cpu", "--repeat", "1"]
    done = CliRunner().invoke(app, [*words, "--json", "-"])
    assert done.exit_code == 0, done.output
    rows: list[Any] = json.loads(done.stdout)["rows"]
    assert [row["devices"] for row in rows] == [1, 2, 3] * len(bench.BENCHES)
    assert all(row["verified"] for row in rows)


def test_what_is_refused() -> None:
    for ladders, devices, options, said in (
        (["sorting"], ["cpu"], {}, r"no ladder 'sorting' on several devices.*did you mean"),
        (["sort"], ["cpu"], {"dtype": "int32"}, "dtype 'int32'"),
        (["sort"], ["cpu", "cpu"], {"size": 1}, "size 1: at least one element for each of 2"),
        (["sort"], [0, "cpu"], {}, "either numbers of GPUs, or 'cpu'"),
    ):
        with pytest.raises(ArgumentError, match=said):
            bench.bench(ladders, devices, **options)
