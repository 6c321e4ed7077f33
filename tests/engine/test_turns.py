"""Atomics whose order matters: the same results in every run, with any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from warpglass import lab, ptx
from warpglass.engine.cpu import launch_plan
from warpglass.engine.cpu.experience import Experience
from warpglass.errors import KernelFault
from warpglass.program import build_program

SOURCE = r"""
extern "C" __global__ void float_sum(const float *x, float *out, int n) {
    float v = 0;
    for (int i = threadIdx.x; i < n * (1 + blockIdx.x % 3); i += 32) v += x[i % n] * (1 + blockIdx.x);
    atomicAdd(&out[threadIdx.x % 4], v);
}
extern "C" __global__ void compact(const int *x, int *count, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] % 3 == 0) out[atomicAdd(count, 1)] = x[i];
}
extern "C" __global__ void last(int *out) {
    if (threadIdx.x % 2) atomicExch(out, blockIdx.x * blockDim.x + threadIdx.x);
}
extern "C" __global__ void bins(const int *x, unsigned *out) {
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&out[v & 7], 1u); atomicMax(&out[8], (unsigned)v); atomicXor(&out[9], (unsigned)v);
}
extern "C" __global__ void in_shared(float *out) {
    __shared__ float s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    atomicAdd(&s, 0.1f * threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = s;
}
extern "C" __global__ void breaks(float *out, int n) {
    atomicAdd(out, 1.f);
    if (blockIdx.x == 37) out[n] = 1;
}
"""

X = np.random.default_rng(2).integers(0, 1000, 4096).astype(np.int32)


@pytest.fixture(params=["1", "2", "5"])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("WARPGLASS_THREADS", request.param)
    monkeypatch.setattr("warpglass.engine.cpu.launch_plan.spare_cores", lambda: 4)
    return int(request.param)


def launch(name: str, grid: int, block: int, *args: object) -> None:
    lab.run(lab.compile(SOURCE, name), grid, block, args, device="cpu", timeout=30)


def test_floating_point_sums_have_one_order(threads: int, mode: str):
    x, out = np.random.default_rng(1).random(100, np.float32), np.zeros(4, np.float32)
    launch("float_sum", 300, 32, x, out, x.size)
    want = np.zeros(4, np.float32)
    for block in range(300):
        for lane in range(32):
            v = np.float32(0)
            for i in range(lane, 100 * (1 + block % 3), 32):
                v = np.float32(np.float64(x[i % 100]) * (1 + block) + np.float64(v))  # one rounding: an fma
            want[lane % 4] += v
    assert out.tobytes() == want.tobytes()


def test_places_are_given_in_the_order_of_the_threads(threads: int, mode: str):
    count, out = np.zeros(1, np.int32), np.zeros(X.size, np.int32)
    launch("compact", X.size // 64, 64, X, count, out, X.size)
    # The warps of a block take their places in order, and so do the lanes of a warp.
    kept = X[X % 3 == 0]
    assert count[0] == kept.size
    assert out[: kept.size].tolist() == kept.tolist()


def test_the_last_thread_wins(threads: int, mode: str):
    out = np.zeros(1, np.int32)
    launch("last", 200, 64, out)
    assert out[0] == 200 * 64 - 1


def test_a_fault_ends_the_turns(threads: int, mode: str):
    out = np.zeros(8, np.float32)
    with pytest.raises(KernelFault, match=r"out\[8\].*block \(37, 0, 0\)"):
        launch("breaks", 400, 32, out, out.size)
    lab.reset("cpu")
    assert out[0] >= 32 * 37


@pytest.mark.parametrize(
    ("name", "ordered"),
    [("float_sum", True), ("compact", True), ("last", True), ("bins", False), ("in_shared", False)],
)
def test_only_those_take_turns_whose_order_matters(name: str, ordered: bool):
    compiled = lab.compile(SOURCE, name).compile(())
    program = build_program(ptx.parse(compiled.ptx, name), compiled.entry)
    assert bool(program.ordered) is ordered


def test_code_without_such_operations_takes_no_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's loops note a step of zero by one. Where integers repeat, no path leads there."""
    cuda = pytest.importorskip("numba_cuda_mlir.cuda")  # installed wherever CUDA C++ compiles, too
    monkeypatch.setenv("WARPGLASS_TIER", "optimised")
    monkeypatch.setenv("WARPGLASS_THREADS", "3")
    monkeypatch.setattr(launch_plan, "spare_cores", lambda: 0)
    counts: list[int] = []
    make = launch_plan.make_plan

    def noting(*given):  # type: ignore[no-untyped-def]
        counts.append(make(*given).count)
        return make(*given)

    monkeypatch.setattr("warpglass.engine.cpu.backend.make_plan", noting)

    def double(x, n):  # type: ignore[no-untyped-def]
        for i in range(cuda.grid(1), n, cuda.gridsize(1)):
            x[i] *= 2

    x, kernel = np.arange(5000, dtype=np.int64), lab.from_numba(double)
    for _ in range(3):
        lab.run(kernel, 40, 64, (x, np.int32(x.size)), device="cpu")
    assert x.tolist() == list(range(0, 40000, 8))
    assert counts[0] == 1
    assert counts[-1] == 3


def test_workers_leave_where_blocks_only_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each launch has the same results, whoever leaves when; and once some have left, fewer begin."""
    monkeypatch.setenv("WARPGLASS_THREADS", "3")
    monkeypatch.setattr(launch_plan, "spare_cores", lambda: 2)
    begun: list[int] = []
    make = launch_plan.make_plan

    def noting(*given):  # type: ignore[no-untyped-def]
        plan = make(*given)
        begun.append(plan.count)
        return plan

    monkeypatch.setattr("warpglass.engine.cpu.backend.make_plan", noting)
    kernel = lab.compile(SOURCE.replace("% 2", "% 4 == 3"), "last")  # that nobody has run yet
    for _ in range(300):  # on busy machines a worker may have done all before the next one comes
        out = np.zeros(1, np.int32)
        lab.run(kernel, 2000, 64, (out,), device="cpu", timeout=60)
        assert out[0] == 2000 * 64 - 1
        if begun[-1] < 3:
            break
    assert begun[0] == 3
    assert begun[-1] < 3


def test_what_launches_have_found_holds_for_some_time() -> None:
    found = Experience()
    found.note_turns(4, 4)
    assert found.known == (None, 0, False)
    found.note_turns(4, 2)
    found.note_changes(1000)
    found.note_changes(700)
    assert found.known == (2, 512, False)
    found.note_turns(2, 1)
    for _ in range(63):
        found.note_turns(1, 1)
    assert found.workers == 1
    found.note_turns(1, 1)
    found.note_seconds(1e-4)
    assert found.known == (None, 512, False)
    found.note_seconds(1e-3)
    assert found.long
