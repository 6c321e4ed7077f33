"""Barriers with ids, counts and votes, and deadlocks, on both implementations of the engine."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass import lab
from warpglass.errors import KernelTimeout

SOURCE = r"""
extern "C" __global__ void votes(const int *x, int *out) {
    int t = threadIdx.x, v = x[blockIdx.x * blockDim.x + t];
    int count = __syncthreads_count(v > 50);
    int all = __syncthreads_and(v < 100), any = __syncthreads_or(v == 7);
    int again = __syncthreads_count(v > 90);
    if (t == blockDim.x - 1) {
        int *row = out + blockIdx.x * 4;
        row[0] = count; row[1] = all != 0; row[2] = any != 0; row[3] = again;
    }
}
// Half of the warps produce, half consume: a named barrier for each direction.
extern "C" __global__ void pipeline(int *out, int rounds) {
    __shared__ int buffer[128];
    int warp = threadIdx.x / 32, half = blockDim.x / 64, n = blockDim.x;
    int slot = threadIdx.x % (n / 2), sum = 0;
    for (int r = 0; r < rounds; r++) {
        if (warp < half) {
            if (r > 0) asm volatile("bar.sync 2, %0;" :: "r"(n));
            buffer[slot] = r * 1000 + slot;
            asm volatile("bar.arrive 1, %0;" :: "r"(n));
        } else {
            asm volatile("bar.sync 1, %0;" :: "r"(n));
            sum += buffer[slot];
            if (r + 1 < rounds) asm volatile("bar.arrive 2, %0;" :: "r"(n));
        }
    }
    if (warp >= half) out[slot] = sum;
}
extern "C" __global__ void two_groups(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, group = t / 64, warp = t / 32 % 2;
    if (warp == 0) s[group * 32 + t % 32] = t;
    asm volatile("bar.sync %0, 64;" :: "r"(group + 1));
    if (warp == 1) out[group * 32 + t % 32] = s[group * 32 + (t + 1) % 32];
}
// The lanes of a warp wait at two barriers that open one after the other.
extern "C" __global__ void parted(int *out) {
    __shared__ volatile int s;
    int t = threadIdx.x, v = 0;
    if (t == 0) s = 0;
    __syncthreads();
    if (t < 16) { asm volatile("barrier.sync 1, 64;"); v = s; }
    else if (t < 32) { asm volatile("barrier.sync 2, 64;"); v = s; }
    else {
        s = 1; asm volatile("barrier.sync 1, 64;");
        s = 2; asm volatile("barrier.sync 3, 32;");
        s = 3; asm volatile("barrier.sync 2, 64;");
    }
    out[t] = v;
}
extern "C" __global__ void never(int *out) {
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
    else asm volatile("bar.sync 2, 64;");
    out[threadIdx.x] = 1;
}
// One warp is late at the barrier of all, because it still waits at another.
extern "C" __global__ void mixed(int *out) {
    __shared__ int s[96];
    int t = threadIdx.x, warp = t / 32;
    s[t] = 0;
    __syncthreads();
    if (warp == 0) { s[t] = 1; asm volatile("bar.arrive 1, 64;"); }
    if (warp == 2) { asm volatile("bar.sync 1, 64;"); s[t] = 5; }
    __syncthreads();
    out[t] = s[t % 32] + s[64 + t % 32];
}
extern "C" __global__ void early_exit(int *out) {
    int t = threadIdx.x;
    if (t >= 40) return;
    int n = __syncthreads_count(1);
    out[t] = n;
}
"""

pytestmark = pytest.mark.usefixtures("mode")


def launch(name: str, grid: int, block: int, *args: object) -> None:
    lab.run(lab.compile(SOURCE, name), grid, block, args, device="cpu", timeout=20)


@pytest.mark.parametrize("block", [32, 100, 256])
def test_votes(block: int) -> None:
    x = np.random.default_rng(block).integers(0, 101, (5, block)).astype(np.int32)
    out = np.zeros((5, 4), np.int32)
    launch("votes", 5, block, x, out)
    for row, values in zip(out.tolist(), x, strict=True):
        assert row == [(values > 50).sum(), (values < 100).all(), (values == 7).any(), (values > 90).sum()]


@pytest.mark.parametrize("rounds", [1, 2, 9])
def test_producers_and_consumers(rounds: int) -> None:
    out = np.zeros(64, np.int32)
    launch("pipeline", 1, 128, out, rounds)
    assert out.tolist() == [sum(r * 1000 + slot for r in range(rounds)) for slot in range(64)]


def test_groups_of_warps_with_their_own_barriers() -> None:
    out = np.zeros(64, np.int32)
    launch("two_groups", 1, 128, out)
    assert out.tolist() == [(k + 1) % 32 for k in range(32)] + [64 + (k + 1) % 32 for k in range(32)]


def test_a_warp_may_come_late_to_the_barrier_of_all() -> None:
    out = np.zeros(96, np.int32)
    launch("mixed", 1, 96, out)
    assert out.tolist() == [6] * 96


def test_lanes_of_a_warp_wait_at_two_barriers() -> None:
    out = np.zeros(64, np.int32)
    launch("parted", 1, 64, out)
    assert out[16:32].tolist() == [3] * 16
    assert set(out[:16].tolist()) <= {1, 2, 3}


def test_threads_that_have_left_are_not_waited_for() -> None:
    out = np.zeros(40, np.int32)
    launch("early_exit", 1, 96, out)
    assert out.tolist() == [40] * 40


def test_deadlock_says_who_waits_where() -> None:
    with pytest.raises(KernelTimeout, match=r"deadlock.*warp 0 at barrier 1 .*; warp 1 at barrier 2"):
        launch("never", 1, 64, np.zeros(64, np.int32))


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_warps_that_come_to_a_counted_barrier_in_parts(engine: str):
    """Lanes leave a lock one by one; their warp arrives behind it once all of them are there."""
    body = """
        ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r5, lock;
        TRY: atom.shared.cas.b32 %r2, [%r5], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra TRY;
        ld.volatile.shared.u32 %r3, [%r5+4]; add.u32 %r3, %r3, 1; st.volatile.shared.u32 [%r5+4], %r3;
        membar.cta; atom.shared.exch.b32 %r2, [%r5], 0;
        bar.sync 5, 64;
        ld.volatile.shared.u32 %r4, [%r5+4];
        bar.sync 0;
        mad.wide.u32 %rd2, %r1, 4, %rd1; st.global.u32 [%rd2], %r4; ret;
    """
    out = np.zeros(60, np.uint32)
    run_ptx(kernel(body, "u64 out", shared=".align 8 .b8 lock[8]"), 1, 60, [out], engine=engine)
    assert (out == 60).all()
