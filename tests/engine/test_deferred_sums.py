"""Sums of floats that blocks leave for their ends: the bits of one thread, whatever the number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpglass as wg
from warpglass.engine.cpu import launch_plan, replay
from warpglass.errors import KernelFault

SOURCE = r"""
#define I (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" __global__ void scatter(float *a, const int *to, const float *x, int n) {
    if (I < n) atomicAdd(&a[to[I]], x[I]);
}
extern "C" __global__ void doubles(double *a, const int *to, const float *x, int n) {
    if (I < n && to[I] % 3) { atomicAdd(&a[to[I]], (double)x[I]); atomicAdd(&a[7], 0.1); }
}
extern "C" __global__ void rows(float *a, const int *to, const float *x, int n) {  // few lanes are left
    if (I < n) for (int k = 0; k < to[I] % 37; k++) atomicAdd(&a[to[(I + k) % n]], x[I] * k);
}
extern "C" __global__ void double_rows(double *a, const int *to, const float *x, int n) {
    if (I < n) for (int k = 0; k < to[I] % 37; k++) atomicAdd(&a[to[(I + k) % n]], (double)x[I] * k);
}
extern "C" __global__ void warps(float *a, const int *to, const float *x, int n) {
    __shared__ float all;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    atomicAdd(&all, I < n ? x[I] : 0);
    atomicAdd(&a[threadIdx.x / 32], I < n ? x[I] : 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&a[9], all);
}
extern "C" __global__ void two(float *a, float *b, const int *to, const float *x, int n) {  // from one place
    if (I < n) atomicAdd(to[I] & 1 ? &a[to[I]] : &b[to[I]], x[I]);
}
extern "C" __global__ void tickets(float *a, int *count, int *out, const float *x, int n) {
    if (I >= n) return;
    atomicAdd(&a[I % 5], x[I]);
    out[atomicAdd(count, 1)] = I;
    atomicAdd(&a[I % 3], x[I]);
}
extern "C" __global__ void looks(float *a, float *out, const float *x, int n) {
    if (I < n) { atomicAdd(&a[0], x[I]); if (threadIdx.x == 0) out[blockIdx.x] = a[1]; }
}
extern "C" __global__ void swaps(float *a, float *out, const float *x, int n) {
    if (I < n) { atomicAdd(&a[0], x[I]); if (threadIdx.x == 9) out[blockIdx.x] = atomicExch(&a[0], 0.f); }
}
extern "C" __global__ void breaks(float *a, const float *x, int *out, int n) {
    if (I < n) atomicAdd(&a[threadIdx.x % 3], x[I]);
    if (blockIdx.x == 37 && threadIdx.x == 40) out[n] = 1;
    atomicAdd(&a[3], 1.f);
}
"""
BLOCKS, THREADS, CELLS = 75, 96, 64
N = BLOCKS * THREADS - 5
RNG = np.random.default_rng(5)
X = (RNG.random(N, np.float32) - 0.5) * 10.0 ** RNG.integers(-44, 20, N).astype(np.float32)
X = X.astype(np.float32)
X[::501] = np.nan
TO = RNG.integers(0, CELLS, N).astype(np.int32)


@pytest.fixture
def deferred(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many sums the blocks of each launch might defer."""
    monkeypatch.setattr(replay, "_SHORT", 0)  # else one thread would do
    monkeypatch.setattr(launch_plan, "spare_cores", lambda: 4)
    found: list[int] = []
    make = launch_plan.make_plan

    def noting(*given: Any) -> Any:
        plan = make(*given)
        found.append(plan.defers)
        return plan

    monkeypatch.setattr("warpglass.engine.cpu.backend.make_plan", noting)
    return found


def arguments(name: str) -> list[np.ndarray]:
    """New arrays, those with results first."""
    a = np.zeros(CELLS, np.float64 if "double" in name else np.float32)
    match name:
        case "two":
            return [a, a.copy(), TO, X]
        case "tickets":
            return [a, np.zeros(1, np.int32), np.zeros(N, np.int32), X]
        case "looks" | "swaps":
            return [a, np.zeros(BLOCKS, np.float32), X]
        case _:
            return [a, TO, X]


@pytest.mark.parametrize("room", [1 << 14, 70, 3])
@pytest.mark.parametrize(
    ("name", "defers"),
    [
        ("scatter", True),
        ("doubles", True),
        ("rows", True),
        ("double_rows", True),
        ("warps", True),
        ("two", True),
        ("tickets", True),
        ("looks", False),
        ("swaps", False),
    ],
)
def test_bits_are_those_of_one_thread(
    name: str, defers: bool, room: int, deferred: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_plan, "_MOST_DEFERRED", room)
    kernel, results = wg.compile(SOURCE, name), []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("WARPGLASS_THREADS", threads)
        for _ in range(2):  # the second by a plan
            given = arguments(name)
            wg.run(kernel, BLOCKS, THREADS, (*given, N), device="cpu", timeout=30)
            results.append([one.tobytes() for one in given])
    assert all(one == results[0] for one in results)
    assert deferred[0] == 0
    assert set(deferred[2:]) <= {room if defers else 0, 0}
    assert (room in deferred) == defers


def test_a_fault_comes_behind_the_sums_before_it(
    deferred: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, left, x = wg.compile(SOURCE, "breaks"), [], RNG.random(N, np.float32)
    for threads in ("1", "2", "4"):
        monkeypatch.setenv("WARPGLASS_THREADS", threads)
        a, out = np.zeros(4, np.float32), np.zeros(8, np.int32)
        with pytest.raises(KernelFault, match=r"block \(37, 0, 0\) thread \(40, 0, 0\)"):
            wg.run(kernel, BLOCKS, THREADS, (a, x, out, 8), device="cpu")
        wg.reset("cpu")
        left.append(a.tobytes())
    assert left[0] == left[1] == left[2]
    assert deferred[0] == 0
    assert deferred[1] > 0
