"""Launches that repeat their integers: when there is a version for them, and that it computes the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import warpglass as wg
from warpglass.engine.cpu import specialisation, tiers
from warpglass.engine.cpu.prepared import Prepared, prepare

# The address of a row depends on `n`: lanes of a warp are in two rows of a block of 16 x 16 threads.
SOURCE = """
extern "C" __global__ void rows(const int* x, int* y, int n, int step) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (column < n && row < n) y[row * n + column] = step * x[column * n + row] + x[row * n + (column ^ 1)];
}
extern "C" __global__ void one(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
"""
BLOCK = (16, 16)


@pytest.fixture(autouse=True)
def optimised(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare.cache_clear()
    monkeypatch.setenv(tiers.VARIABLE, tiers.OPTIMISED)


def launch(kernel: wg.Kernel, n: int, step: int) -> None:
    """Run the kernel and compare every bit; what lies behind the matrix must stay."""
    rng = np.random.default_rng(n)
    x, y = rng.integers(0, 1 << 20, (n, n), np.int32), np.zeros(n * n + 64, np.int32)
    wg.run(kernel, (-(-n // 16), -(-n // 16)), BLOCK, (x, y, np.int32(n), np.int32(step)), device="cpu")
    swapped = x[:, np.arange(n) ^ 1]
    np.testing.assert_array_equal(y[: n * n].reshape(n, n), step * x.T + swapped)
    assert not y[n * n :].any()


def versions(kernel: wg.Kernel) -> list[object]:
    """What has been made for repeated launches, None where it was of no use."""
    prepared: Prepared = prepare(kernel.compile())
    return list(prepared._specialisations._versions.values())  # pyright: ignore[reportPrivateUsage]


def test_the_second_launch_with_the_same_integers_has_a_version() -> None:
    kernel = wg.compile(SOURCE, "rows")
    launch(kernel, 64, 3)
    assert versions(kernel) == []
    launch(kernel, 64, 3)
    (first,) = versions(kernel)
    assert first is not None
    for n, step in ((64, 3), (64, 4), (38, 3), (64, 3)):  # neither others nor the version are mistaken
        launch(kernel, n, step)
    assert len(versions(kernel)) == 1
    assert versions(kernel)[0] is first


def test_a_kernel_has_a_few_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(specialisation, "_MOST", 2)
    kernel = wg.compile(SOURCE, "rows")
    for n in (32, 32, 48, 48, 64, 64, 64):
        launch(kernel, n, 1)
    assert len(versions(kernel)) == 2


def test_what_becomes_no_simpler_has_none() -> None:
    kernel = wg.compile(SOURCE, "one")
    x, y = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    for _ in range(3):
        wg.run(kernel, 4, 256, (x, y, np.int32(1000)), device="cpu")
    assert versions(kernel) == [None]
    np.testing.assert_array_equal(y, 2 * x)


def test_hot_code_gets_versions_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[Callable[[], None]] = []
    monkeypatch.setattr("warpglass.engine.cpu.prepared.in_background", jobs.append)
    monkeypatch.setattr(tiers, "LONG_KERNEL", 0.0)
    monkeypatch.delenv(tiers.VARIABLE)
    kernel = wg.compile(SOURCE, "rows")
    for _ in range(3):
        launch(kernel, 40, 2)
    (job,) = jobs
    assert versions(kernel) == [None]
    job()
    assert versions(kernel)[0] is not None
    launch(kernel, 40, 2)
