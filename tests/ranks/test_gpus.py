"""The same algorithms through NCCL: on every GPU there is, as processes and as threads of one process."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ranks import shares
from warpglass import ArgumentError, WarpglassError, ranks
from warpglass.ranks.bench import BENCHES, bench

pytestmark = pytest.mark.gpu
cupy: Any = pytest.importorskip("cupy")


def devices(count: int) -> list[int]:
    there = cupy.cuda.runtime.getDeviceCount()
    if there < count:
        pytest.skip(f"{there} of {count} GPUs")
    return list(range(count))


@pytest.mark.parametrize("processes", [True, False])
@pytest.mark.parametrize("weights", [(1,), (1, 1), (3, 0), (3, 1, 2), (1, 0, 30, 2)], ids=str)
def test_every_operation(weights: tuple[int, ...], processes: bool) -> None:
    numbers = devices(len(weights))
    for dtype in shares.DTYPES:
        found = ranks.run(shares.check_all, numbers, dtype, weights, processes=processes, timeout=300)
        assert {len(done) for done in found} == {4 if dtype == "bool" else 10}


@pytest.mark.parametrize("count", [1, 2, 4])
def test_bench(count: int) -> None:
    assert bench(tuple(BENCHES), devices(count), size=1 << 12, repeat=1).verified


def test_one_that_fails_ends_the_others() -> None:
    with pytest.raises(WarpglassError, match="^rank 1 of 2: ZeroDivisionError"):
        ranks.run(shares.lone_failure, devices(2), timeout=120)


def test_gpus_that_there_are_not() -> None:
    with pytest.raises(ArgumentError, match=r"there is no GPU 99: this machine has \d+"):
        ranks.run(shares.nothing_shared, [99])
    with pytest.raises(ArgumentError, match=r"devices \[0, 0\]: NCCL takes each GPU once"):
        ranks.run(shares.nothing_shared, [0, 0])
