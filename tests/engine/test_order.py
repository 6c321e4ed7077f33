"""Orders of blocks and warps other than by number: they follow from the seed; correct kernels do not care."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, engine_mode
from warpglass import lab
from warpglass.codegen import Probe
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.cpu.order import Order
from warpglass.errors import ArgumentError, KernelFault
from warpglass.program import Program

pytestmark = pytest.mark.turns(2)

SOURCE = r"""
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++ it compiles 20 times as quickly
#include <cooperative_groups.h>
// Who comes when: by block, and by the warps of the first and second round.
extern "C" __global__ void arrivals(int* count, int* blocks, int* warps) {
  int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) blocks[blockIdx.x] = atomicAdd(count, 1);
  for (int round = 0; round < 2; round++) {
    if (threadIdx.x % 32 == 0) warps[4 * round + warp] = atomicAdd(count + 1 + round, 1) % 4;
    __syncthreads();
  }
}
extern "C" __global__ void reversed(const int* x, int* y) {
  __shared__ int s[128];
  s[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  y[blockIdx.x * 128 + threadIdx.x] = s[127 - threadIdx.x];
  printf("%d\n", blockIdx.x);
}
extern "C" __global__ void chain(volatile int* flags, int* out) {
  if (blockIdx.x > 0) while (flags[blockIdx.x - 1] == 0);
  out[blockIdx.x] = blockIdx.x;
  __threadfence();
  flags[blockIdx.x] = 1;
}
extern "C" __global__ void grid_sum(int* out) {
  out[blockIdx.x] = blockIdx.x;
  cooperative_groups::this_grid().sync();
  int sum = 0;
  for (int i = 0; i < gridDim.x; i++) sum += out[i];
  cooperative_groups::this_grid().sync();
  out[blockIdx.x] = sum;
}
extern "C" __global__ void past_end(int* x, int n) { x[n * (blockIdx.x == 5) + threadIdx.x / 64] = 1; }
"""


class _AnyOrder:
    """An instrument that sees nothing, and lets the engine choose the order."""

    class AnyProbe(Probe):
        alone = True
        any_order = True

    def probes(self, program: Program) -> tuple[Probe, ...]:
        return (self.AnyProbe(),)


def launch(name: str, grid: int, block: int, *args: object, seed: int | None, engine: str = "kinds") -> None:
    kernel = lab.compile(SOURCE, name)
    order = None if seed is None else Order(seed)
    with engine_mode(engine):
        backend = CpuBackend()
        launch = lab.make_launch(kernel, grid, block, args, 0, 10.0, backend)
        backend.observe(launch, _AnyOrder(), order=order)


def arrivals(seed: int | None, engine: str) -> tuple[list[int], list[int]]:
    blocks, warps = np.zeros(7, np.int32), np.zeros(8, np.int32)
    launch("arrivals", 7, 128, np.zeros(3, np.int32), blocks, warps, seed=seed, engine=engine)
    return blocks.tolist(), warps.tolist()


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_an_order_follows_from_its_seed(engine: str) -> None:
    by_number = arrivals(None, engine)
    assert by_number == ([0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3] * 2)
    found = [arrivals(seed, engine) for seed in range(1, 9)]
    assert all(sorted(blocks) == by_number[0] for blocks, _ in found)
    assert len({str(blocks) for blocks, _ in found}) > 4
    assert len({str(warps) for _, warps in found}) > 4
    assert any(warps[:4] != warps[4:] for _, warps in found)  # each round has its own
    assert arrivals(3, engine) == found[2]
    assert arrivals(None, engine) == by_number


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_correct_kernels_do_not_care(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    x, y = np.arange(512, dtype=np.int32), np.zeros(512, np.int32)
    launch("reversed", 4, 128, x, y, seed=5, engine=engine)
    assert (y.reshape(4, 128) == x.reshape(4, 128)[:, ::-1]).all()
    assert capsys.readouterr().out == ""


def test_blocks_that_wait_for_earlier_ones_come_by_number() -> None:
    for seed in range(4):
        flags, out = np.zeros((2, 6), np.int32)
        launch("chain", 6, 1, flags, out, seed=seed)
        assert out.tolist() == [0, 1, 2, 3, 4, 5]


def test_cooperative_grids_begin_in_any_order() -> None:
    for seed in range(3):
        out = np.zeros(5, np.int32)
        launch("grid_sum", 5, 32, out, seed=seed)
        assert out.tolist() == [10] * 5


def test_a_fault_names_the_block_itself() -> None:
    for seed in range(3):
        with pytest.raises(KernelFault, match=r"x\[10[01]\].*block \(5, 0, 0\)"):
            launch("past_end", 8, 96, np.zeros(100, np.int32), 100, seed=seed)


def test_orders_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_MEMORY", "16M")
    with pytest.raises(ArgumentError, match="random order of 1000000 blocks"):
        Order(1).blocks(1_000_000)
