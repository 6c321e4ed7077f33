"""Lanes of one warp that wait for each other: __syncwarp and the other instructions with a member mask."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import ENGINES, engine_mode
from warpglass import lab
from warpglass.errors import KernelTimeout

SOURCE = r"""
#define FULL 0xffffffffu
// Both halves wait for one another at different places.
extern "C" __global__ void halves(const int *x, int *out) {
    __shared__ volatile int s[32];
    int lane = threadIdx.x;
    if (lane < 16) { s[lane] = x[lane] + 1; __syncwarp(); out[lane] = s[lane + 16]; }
    else { s[lane] = x[lane] * 2; __syncwarp(); out[lane] = s[lane - 16]; }
}
// One branch meets by itself, then all do.
extern "C" __global__ void branch_alone(const int *x, int *out) {
    __shared__ volatile int s[32];
    int lane = threadIdx.x, v = x[lane];
    s[lane] = v;
    if (lane < 16) {
        __syncwarp(0xffff);
        v += s[15 - lane];
        __syncwarp(0xffff);
        s[lane] = v;
        __syncwarp(0xffff);
        v += s[(lane + 1) % 16];
    } else v = -v;
    __syncwarp();
    s[lane] = v;
    __syncwarp();
    out[lane] = s[31 - lane];
}
// Lanes come to one shuffle by four ways, two of them through a loop of their own length.
extern "C" __global__ void many_ways(const int *x, int *out) {
    int lane = threadIdx.x, v = x[lane];
    switch (lane % 4) {
        case 0: v += 1; break;
        case 1: for (int i = 0; i < lane; i++) v = v * 3 + i; break;
        case 2: for (int i = lane; i < 40; i += 3) v ^= x[i % 32]; break;
        default: v = -v;
    }
    out[lane] = __shfl_xor_sync(FULL, v, 1) * 2 + __any_sync(FULL, v == x[0] + 1);
}
// Each step of a loop with as many turns as a lane likes: the lanes that are left exchange by their mask.
extern "C" __global__ void shrinking(const int *turns, int *out) {
    __shared__ volatile int s[32];
    int lane = threadIdx.x, sum = 0, n = turns[lane];
    unsigned mask = FULL;
    for (int i = 0; i < n; i++) {
        mask = __ballot_sync(mask, i < n);
        s[lane] = lane + i;
        __syncwarp(mask);
        int next = lane;
        do next = (next + 1) % 32; while (!(mask >> next & 1));
        sum += s[next] + __popc(mask) * 100;
        __syncwarp(mask);
        bool more = i + 1 < n;
        mask = __ballot_sync(mask, more);
        if (!more) break;
    }
    out[lane] = sum;
}
// Values travel from lane to lane through shared memory; each lane's branch is the other's.
extern "C" __global__ void pass_on(int *out, int rounds) {
    __shared__ volatile int s[32];
    int lane = threadIdx.x;
    s[lane] = lane;
    __syncwarp();
    for (int r = 0; r < rounds; r++) {
        int v;
        if ((lane + r) % 2) { v = s[(lane + 1) % 32]; __syncwarp(); s[lane] = v + 1; }
        else { v = s[(lane + 31) % 32]; __syncwarp(); s[lane] = v + 2; }
        __syncwarp();
    }
    out[lane] = s[lane];
}
// Lanes that have left are not waited for, whenever they leave.
extern "C" __global__ void leavers(const int *x, int *out) {
    int lane = threadIdx.x, v = x[lane];
    if (lane < 8) { __syncwarp(); v += __popc(__activemask()); }
    else {
        if (lane % 2) return;
        for (int i = 0; i < lane; i++) v += i;
        if (v % 3 == 0) return;
        out[lane] = v;
        return;
    }
    out[lane] = v + __reduce_add_sync(FULL, 1);
}
// Two groups go round loops of different length, each in step with itself only.
extern "C" __global__ void two_groups(int *out, int rounds) {
    __shared__ volatile int s[32];
    int lane = threadIdx.x, low = lane < 12;
    unsigned mask = low ? 0xfffu : 0xfffff000u;
    int count = low ? 12 : 20, first = low ? 0 : 12, v = lane;
    for (int r = 0; r < (low ? rounds : 2 * rounds + 1); r++) {
        if ((lane + r) % 3 == 0) v += r;
        s[lane] = v;
        __syncwarp(mask);
        v += s[first + (lane - first + 1) % count];
        __syncwarp(mask);
        v += __shfl_sync(mask, v, first);
    }
    out[lane] = v;
}
// The lanes from 16 on spin until a lane below has met the others below.
extern "C" __global__ void spinning(int *out) {
    __shared__ volatile int flag;
    int lane = threadIdx.x;
    if (lane == 0) flag = 0;
    __syncwarp();
    if (lane >= 16) { while (!flag) {} }
    else if (lane % 2) { __syncwarp(0xffff); }
    else { __syncwarp(0xffff); if (lane == 4) flag = 1; }
    out[lane] = lane + flag;
}
"""

STUCK = r"""
extern "C" __global__ void stuck(int *out) {
    int lane = threadIdx.x % 32;
    if (lane < 5 && threadIdx.x >= 32)
        __syncwarp();
    else if (lane < 9 && threadIdx.x >= 32)
        out[lane] = __shfl_sync(0x1ff, lane, 0);
    out[threadIdx.x] = lane;
}
extern "C" __global__ void at_the_barrier(int *out) {
    if (threadIdx.x < 16)
        __syncthreads();
    else
        __syncwarp();
    out[threadIdx.x] = 1;
}
"""

X = np.random.default_rng(5).integers(-1000, 1000, 32).astype(np.int32)
LANES = np.arange(32)


def launch(name: str, engine: str, *args: object, source: str = SOURCE, block: int = 32) -> None:
    kernel = lab.compile(source, name)
    if engine == "gpu":
        lab.run(kernel, 1, block, args, device="gpu", timeout=20)
        return
    with engine_mode(engine):
        lab.run(kernel, 1, block, args, device="cpu", timeout=20)


def zeros() -> np.ndarray:
    return np.zeros(32, np.int32)


@pytest.mark.parametrize("engine", ENGINES)
def test_halves_wait_for_one_another(engine: str):
    out = zeros()
    launch("halves", engine, X, out)
    assert out.tolist() == [*(2 * X[16:]), *(X[:16] + 1)]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_branch_meets_by_itself(engine: str):
    out = zeros()
    launch("branch_alone", engine, X, out)
    low = X[:16] + X[15::-1]
    low = low + np.roll(low, -1)
    assert out.tolist() == [*(-X[:15:-1]), *low[::-1]]


@pytest.mark.parametrize("engine", ENGINES)
def test_lanes_come_by_different_ways(engine: str):
    out, v = zeros(), X.astype(np.int64)
    launch("many_ways", engine, X, out)
    for lane in range(32):
        match lane % 4:
            case 0:
                v[lane] += 1
            case 1:
                for i in range(lane):
                    v[lane] = v[lane] * 3 + i
            case 2:
                for i in range(lane, 40, 3):
                    v[lane] ^= int(X[i % 32])
            case _:
                v[lane] = -v[lane]
    want = (v[LANES ^ 1] * 2 + 1).astype(np.int32)
    assert out.tolist() == want.tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_fewer_lanes_in_every_turn(engine: str):
    turns = (np.random.default_rng(8).permutation(32) // 3).astype(np.int32)
    out, want = zeros(), [0] * 32
    launch("shrinking", engine, turns, out)
    for i in range(int(turns.max())):
        there = [lane for lane in range(32) if turns[lane] > i]
        for lane in there:
            after = next(k % 32 for k in range(lane + 1, lane + 33) if k % 32 in there)
            want[lane] += after + i + 100 * len(there)
    assert out.tolist() == want


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rounds", [1, 2, 33])
def test_values_are_passed_on_across_branches(rounds: int, engine: str):
    out, want = zeros(), list(range(32))
    launch("pass_on", engine, out, rounds)
    for r in range(rounds):
        want = [
            want[(lane + 1) % 32] + 1 if (lane + r) % 2 else want[(lane + 31) % 32] + 2 for lane in range(32)
        ]
    assert out.tolist() == want


@pytest.mark.parametrize("engine", ENGINES)
def test_lanes_that_have_left_are_not_waited_for(engine: str):
    out = zeros()
    launch("leavers", engine, X, out)
    want = [0] * 32
    for lane in range(32):
        v = int(X[lane])
        if lane < 8:
            want[lane] = v + 16
        elif lane % 2 == 0:
            v += lane * (lane - 1) // 2
            want[lane] = 0 if v % 3 == 0 else v
    assert out.tolist() == want


@pytest.mark.parametrize("engine", ENGINES)
def test_groups_go_on_without_each_other(engine: str):
    out = zeros()
    launch("two_groups", engine, out, 7)
    want = LANES.astype(np.int32)
    for first, count, rounds in ((0, 12, 7), (12, 20, 15)):
        v = want[first : first + count]
        for r in range(rounds):
            v += np.where((np.arange(first, first + count) + r) % 3 == 0, r, 0).astype(np.int32)
            v += np.roll(v, -1)
            v += v[0]
    assert out.tolist() == want.tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_lanes_meet_while_others_spin(engine: str):
    out = zeros()
    launch("spinning", engine, out)
    assert (out[16:] - 1).tolist() == list(range(16, 32))
    assert out[4] == 5


@pytest.mark.parametrize("mode", ["kinds", "reference"])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "stuck",
            r"deadlock in block \(0, 0, 0\): lanes of warp 1 wait .*"
            r"lanes 0-4 at bar\.warp\.sync \(.*:5\); lanes 5-8 at shfl\.sync\.idx\.b32 \(.*:7\)",
        ),
        ("at_the_barrier", r"lanes 0-15 at bar\.sync \(.*:12\); lanes 16-31 at bar\.warp\.sync \(.*:14\)"),
    ],
)
def test_a_deadlock_says_which_lanes_wait_where(name: str, message: str, mode: str):
    with pytest.raises(KernelTimeout, match=message) as caught:
        launch(name, mode, np.zeros(64, np.int32), source=STUCK, block=64)
    assert caught.value.place is not None
    assert caught.value.place.kind == "deadlock"
