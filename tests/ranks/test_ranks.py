"""The same algorithms with 1 to 4 ranks, unequal and empty shares, every type: against NumPy."""

from __future__ import annotations

import pytest

from tests.ranks import shares
from warpglass import ArgumentError, WarpglassError, ranks

WEIGHTS = [(1,), (1, 1), (0, 1), (3, 1, 2), (0, 5, 0), (1, 1, 1, 1), (0, 7, 1, 0), (1, 0, 30, 2)]


@pytest.fixture(autouse=True)
def quick_code(monkeypatch: pytest.MonkeyPatch) -> None:
    # The kernels are those of ops, whose tests have them in optimised code as well.
    monkeypatch.setenv("WARPGLASS_TIER", "quick")


@pytest.mark.sampled(quick=96, ci=96)
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("dtype", shares.DTYPES)
def test_every_operation(dtype: str, weights: tuple[int, ...]) -> None:
    found = ranks.run(shares.check_all, ["cpu"] * len(weights), dtype, weights, processes=False)
    assert {len(done) for done in found} == {4 if dtype == "bool" else 10}


@pytest.mark.least("full")
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_processes(count: int) -> None:
    assert len(ranks.run(shares.check_all, ["cpu"] * count, "float32", (1,) * count)) == count


def test_nothing_shared() -> None:
    assert ranks.run(shares.nothing_shared, ["cpu"] * 3, processes=False) == [[0.0, 0.0, 0]] * 3


@pytest.mark.parametrize("processes", [False, True])
def test_one_that_fails_ends_the_others(processes: bool) -> None:
    with pytest.raises(
        WarpglassError, match=r"^rank 1 of 3: ZeroDivisionError: what went wrong \(.*shares.py:"
    ):
        ranks.run(shares.lone_failure, ["cpu"] * 3, processes=processes)


@pytest.mark.least("full")
def test_one_whose_process_ends() -> None:
    with pytest.raises(WarpglassError, match="rank 1 of 2: its process ended with status 3"):
        ranks.run(shares.lone_exit, ["cpu"] * 2)


@pytest.mark.least("full")
def test_one_that_never_answers() -> None:
    with pytest.raises(WarpglassError, match="rank 0, 1 of 2 did not end within 8 s"):
        ranks.run(shares.hang, ["cpu"] * 2, timeout=8)


def test_shares_that_do_not_go_together() -> None:
    with pytest.raises(
        ArgumentError, match=r"rank 0 of 2: sort: rank 0 has a share of float64 and shape \(5,\)"
    ):
        ranks.run(shares.differing, ["cpu"] * 2, processes=False)


def test_devices_that_do_not_go_together() -> None:
    with pytest.raises(ArgumentError, match="devices is empty"):
        ranks.run(shares.nothing_shared, [])
    with pytest.raises(ArgumentError, match="either numbers of GPUs, or 'cpu' for every rank"):
        ranks.run(shares.nothing_shared, [0, "cpu"])
    with pytest.raises(ArgumentError, match="can be pickled"):
        ranks.run(lambda here: None, ["cpu"])
