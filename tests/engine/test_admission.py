"""Launches that the model's hardware refuses for what only the machine code says, and what asking costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from warpglass import lab
from warpglass.engine.cpu import admission
from warpglass.errors import CompileError, LaunchError
from warpglass.lab.check import check

# 48 sums under way at once: some 200 registers.
SOURCE = """
extern "C" __global__ void BOUNDS sums(double *x, int n) {
    double a[48];
    #pragma unroll
    for (int i = 0; i < 48; i++) a[i] = x[i * blockDim.x + threadIdx.x];
    for (int k = 0; k < n; k++)
        #pragma unroll
        for (int i = 0; i < 48; i++) a[i] = a[i] * a[(i + 7) % 48] + a[(i + 1) % 48];
    #pragma unroll
    for (int i = 0; i < 48; i++) x[i * blockDim.x + threadIdx.x] = a[i];
}
"""


def _kernel(bounds: str = "") -> lab.Kernel:
    return lab.compile(SOURCE.replace("BOUNDS", bounds), "sums")


@pytest.mark.parametrize("model", ["h100", "t4"])
def test_registers_of_a_block(model: str) -> None:
    x = np.zeros(48 * 1024)
    lab.run(_kernel(), 1, 256, (x, 1), device="cpu", model=model)
    for make in (lab.run, check):
        with pytest.raises(LaunchError, match=r"1024 threads of \d+ registers .*__launch_bounds__") as caught:
            make(_kernel(), 1, 1024, (x, 1), device="cpu", model=model)
        assert caught.value.cuda_name == "cudaErrorLaunchOutOfResources"
        assert caught.value.synchronous
    lab.run(_kernel("__launch_bounds__(1024)"), 1, 1024, (x, 1), device="cpu", model=model)


@pytest.mark.usefixtures("no_assembler")
def test_who_has_no_assembler_is_not_refused() -> None:
    lab.run(_kernel(), 1, 512, (np.zeros(48 * 512), 1), device="cpu")


def test_the_machine_code_is_asked_where_it_may_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(admission, "_assembled_registers", lambda one, _: asked.append(one.name) or 32)
    x = np.zeros(48 * 1024)
    for bounds, block in (("", 256), ("__launch_bounds__(512)", 512), ("__maxnreg__(64)", 1024)):
        lab.run(_kernel(bounds), 1, block, (x, 1), device="cpu")
        assert not asked
    lab.run(_kernel(), 1, 288, (x, 1), device="cpu")
    assert asked == ["sums"]


@pytest.fixture
def no_assembler(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise CompileError("there is no assembler")

    admission._assembled_registers.cache_clear()
    monkeypatch.setattr(admission, "resources", refuse)


WAITING = """
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++ it compiles 20 times as quickly
#include <cooperative_groups.h>
extern "C" __global__ void wait(float *x) {
    extern __shared__ float s[];
    s[threadIdx.x] = x[threadIdx.x];
    cooperative_groups::this_grid().sync();
    x[threadIdx.x] = s[threadIdx.x];
}
"""


def test_a_grid_that_shared_memory_keeps_from_fitting() -> None:
    """Two blocks of 100,000 bytes fit a multiprocessor of an H100, which has 132."""
    kernel, x = lab.compile(WAITING, "wait"), np.zeros(32, np.float32)
    with pytest.raises(LaunchError, match="at most 264 of them .2 on each of 132 .*shared memory") as caught:
        lab.run(kernel, 265, 32, (x,), shared=100_000, device="cpu")
    assert caught.value.cuda_name == "cudaErrorCooperativeLaunchTooLarge"
    lab.run(kernel, 264, 32, (x,), shared=100_000, device="cpu")
