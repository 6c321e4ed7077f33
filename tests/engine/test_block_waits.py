"""Blocks that wait for later ones without a cooperative launch: grid barriers made by hand, flags."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from warpglass.engine.cpu.prepared import prepare

BARRIER = """
extern "C" __global__ void meet(volatile int *arrived, int *seen, int rounds) {
    __shared__ int own;
    if (threadIdx.x == 0) own = blockIdx.x;
    for (int r = 1; r <= rounds; r++) {
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd((int *)arrived, 1);
            while (*arrived < r * gridDim.x) { }
            __threadfence();
        }
        __syncthreads();
        if (threadIdx.x == 0) seen[blockIdx.x] += *arrived >= r * (int)gridDim.x && own == blockIdx.x;
    }
}
"""

# Each block waits for the next: they end in the opposite order.
BACKWARDS = """
extern "C" __global__ void backwards(volatile int *flag, int *order, int *next) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x + 1 < gridDim.x) while (flag[blockIdx.x + 1] == 0) { }
    __threadfence();
    order[blockIdx.x] = atomicAdd(next, 1);
    __threadfence();
    flag[blockIdx.x] = 1;
}
"""

pytestmark = pytest.mark.usefixtures("mode")


@pytest.mark.sampled(quick=7, ci=7)
@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize(("blocks", "block"), [(2, 32), (7, 96), (65, 33), (300, 64)])
def test_a_barrier_of_the_grid_made_by_hand_opens(
    blocks: int, block: int, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPGLASS_THREADS", threads)
    kernel = wg.compile(BARRIER, "meet")
    for rounds in (1, 9):
        arrived, seen = np.zeros(1, np.int32), np.zeros(blocks, np.int32)
        wg.run(kernel, blocks, block, (arrived, seen, rounds), device="cpu", timeout=30)
        assert arrived[0] == blocks * rounds
        assert (seen == rounds).all()


@pytest.mark.parametrize("threads", ["1", "2"])
def test_blocks_wait_for_the_next(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_THREADS", threads)
    blocks = 40
    flag, order, following = (np.zeros(n, np.int32) for n in (blocks, blocks, 1))
    wg.run(wg.compile(BACKWARDS, "backwards"), blocks, 32, (flag, order, following), device="cpu", timeout=30)
    assert order.tolist() == list(range(blocks))[::-1]


def test_more_blocks_than_a_gpu_holds_wait_in_vain() -> None:
    arrived, seen = np.zeros(1, np.int32), np.zeros(700, np.int32)
    with pytest.raises(wg.KernelTimeout, match="may wait for each other, but at most 264 can be under way"):
        wg.run(wg.compile(BARRIER, "meet"), 700, 1024, (arrived, seen, 1), device="cpu", timeout=0.5)


def test_faults_and_results_of_waiting_blocks_are_those_of_their_own() -> None:
    source = BARRIER.replace("seen[blockIdx.x] +=", "seen[blockIdx.x == 5 ? 1 << 28 : blockIdx.x] +=")
    arrived, seen = np.zeros(1, np.int32), np.zeros(9, np.int32)
    with pytest.raises(wg.KernelFault, match=r"block \(5, 0, 0\) thread \(0, 0, 0\)"):
        wg.run(wg.compile(source, "meet"), 9, 32, (arrived, seen, 3), device="cpu", timeout=30)
    wg.reset()


def test_waiting_blocks_may_allocate() -> None:
    source = BARRIER.replace(
        "if (threadIdx.x == 0) own = blockIdx.x;",
        "if (threadIdx.x == 0) own = blockIdx.x; int *m = (int *)malloc(8); *m = blockIdx.x;",
    )
    source = source.replace("own == blockIdx.x", "*m == blockIdx.x")
    arrived, seen = np.zeros(1, np.int32), np.zeros(6, np.int32)
    wg.run(wg.compile(source, "meet"), 6, 32, (arrived, seen, 2), device="cpu", timeout=30)
    assert (seen == 2).all()


def test_waiting_blocks_are_checked_and_counted() -> None:
    kernel = wg.compile(BARRIER, "meet")
    arrived, seen = np.zeros(1, np.int32), np.zeros(5, np.int32)
    assert wg.check(kernel, 5, 64, (arrived, seen, 3), timeout=60).findings == ()
    assert (seen == 3).all()
    arrived[:], seen[:] = 0, 0
    wg.profile(kernel, 5, 64, (arrived, seen, 3))
    assert (seen == 3).all()


@pytest.mark.parametrize(
    ("body", "waits"),
    [
        ("while (atomicAdd(x, 0) < n) { }", True),
        ("while (*(volatile int *)x == 0) { }", True),
        ("while (atomicCAS(x, 0, 1) != 0) __nanosleep(20);", True),
        ("unsigned ns = 8; while (*(volatile int *)x != n) { __nanosleep(ns); ns *= 2; }", True),
        ("int b = blockIdx.x; while (b-- > 0) while (((volatile int *)x)[b] == 0) { }", True),
        ("int o = x[0], a; do { a = o; o = atomicCAS(x, a, a * 3 + n); } while (o != a);", False),
        ("int k = n; while (atomicCAS(&x[k], 0, n) != 0) k = (k + 1) % 64;", False),
        ("for (int k = 0; k < n; k++) atomicAdd(&x[k], 1);", False),
        ("__shared__ int s; s = 0; while (atomicAdd(&s, 0) < 0) { }", False),
        ("int k = x[0]; while (k != n) k = x[k];", False),
    ],
)
def test_loops_that_may_wait_for_other_blocks(body: str, waits: bool) -> None:
    kernel = wg.compile(f'extern "C" __global__ void loop(int *x, int n) {{ {body} x[1] = 1; }}', "loop")
    assert prepare(kernel.compile()).facts.waits_for_blocks == waits
