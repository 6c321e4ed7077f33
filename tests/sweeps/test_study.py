"""The model of the study of large clusters gives what can be known without it."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("distributed")  # which brings psutil
study: Any = pytest.importorskip("bench.sweeps.study")

COSTS = study.Costs(1e-4, 1e-3, 2e-3, 3e-3, 0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("workers", "seconds", "expected"),
    [
        (2, 1.0, 2 / 1.003),  # the workers are what limits
        (1000, 0.1, 1 / 2e-3),  # the scheduler is
    ],
)
def test_rates(workers: int, seconds: float, expected: float) -> None:
    assert study.rate(COSTS, workers, seconds) == pytest.approx(expected, rel=0.05)


def test_smaller_batches_cost_more() -> None:
    alone, together = COSTS, study.Costs(1e-4, 1e-4, 1e-4, 3e-4, 0.0, 0.0, 1.0, 64)
    assert together.in_batches_of(alone, 64) == together
    assert together.in_batches_of(alone, 1).scheduler == pytest.approx(alone.scheduler)
    assert together.in_batches_of(alone, 8).scheduler == pytest.approx(1e-4 + 7 / 63 * 1.9e-3)
