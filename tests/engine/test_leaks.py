"""Launches, faults and dropped kernels give back what they take."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from warpglass import lab
from warpglass.engine.cpu import prepared
from warpglass.errors import KernelFault

pytestmark = pytest.mark.turns(2)

SOURCE = r"""
extern "C" __global__ void axpy(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}
"""
STATUS = Path("/proc/self/status")


@pytest.fixture(autouse=True)
def one_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else better code, which takes memory once, may come at any time."""
    monkeypatch.setenv("WARPGLASS_TIER", "optimised")


def resident() -> int:
    """Bytes of memory in use, after a garbage collection."""
    gc.collect()
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def growth(work: Callable[[], None]) -> tuple[int, int]:
    """Bytes and Python objects that 1000 calls leave behind, after a few to warm up.

    The less of two times: what other tests have left to do in the background comes once, a leak each time.
    """
    for _ in range(100):
        work()
    found: list[tuple[int, int]] = []
    for _ in range(2):
        before, objects = resident(), len(gc.get_objects())
        for _ in range(1000):
            work()
        found.append((resident() - before, len(gc.get_objects()) - objects))
    return min(grown for grown, _ in found), min(objects for _, objects in found)


@pytest.mark.skipif(not STATUS.exists(), reason="reads /proc")
def test_a_thousand_launches() -> None:
    kernel = lab.compile(SOURCE, "axpy")
    y = np.zeros(4096, np.float32)
    x = np.ones(4096, np.float32)

    def launch() -> None:
        lab.run(kernel, 16, 256, (y, x[:4000].copy(), 4000), device="cpu")

    grown, objects = growth(launch)
    assert grown < 2**22
    assert objects < 50
    assert y[0] == 2100


@pytest.mark.skipif(not STATUS.exists(), reason="reads /proc")
def test_a_thousand_faults() -> None:
    kernel = lab.compile(SOURCE, "axpy")

    def fail() -> None:
        x = np.ones(100, np.float32)
        with pytest.raises(KernelFault):
            lab.run(kernel, 16, 256, (x, x, 4000), device="cpu")
        lab.reset("cpu")

    grown, objects = growth(fail)
    assert grown < 2**22
    assert objects < 50


@pytest.mark.skipif(not STATUS.exists(), reason="reads /proc")
def test_kernels_that_are_dropped() -> None:
    text = lab.compile(SOURCE, "axpy").compile().ptx
    y, x = np.zeros(64, np.float32), np.ones(64, np.float32)

    def some_kernels() -> int:
        for number in range(40):
            name = f"axpy{number}"
            kernel = lab.compile(text.replace("axpy", name), name, language="ptx")
            lab.run(kernel, 1, 64, (y, x, 64), device="cpu")
        prepared.prepare.cache_clear()
        lab.reset("cpu")  # which remembers launches
        return resident()

    some_kernels()
    first = some_kernels()
    assert some_kernels() - first < 2**20


def test_arrays_are_let_go() -> None:
    kernel = lab.compile(SOURCE, "axpy")
    x = np.ones(64, np.float32)
    seen = weakref.ref(x)
    lab.run(kernel, 1, 64, (x, x, 64), device="cpu")
    del x
    assert seen() is None


def test_code_for_many_block_shapes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "_SHAPES", 3)
    kernel = lab.compile(SOURCE, "axpy")
    y = np.zeros(64, np.float32)
    x = np.ones(64, np.float32)
    for _ in range(2):
        for block in range(1, 9):
            lab.run(kernel, 64, block, (y, x, 64), device="cpu")
    assert (y == 16).all()
    assert len(prepared.prepare(kernel.compile())._executables) <= 3
