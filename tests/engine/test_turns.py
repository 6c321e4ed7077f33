"""Atomics whose order matters: the same results in every run, with any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import engine_mode, worker_threads
from warpglass import lab, ptx
from warpglass.codegen.context import SLOT
from warpglass.codegen.control.turns import turn_helpers
from warpglass.codegen.machine.jit import compile_ir, load_object
from warpglass.engine.cpu import launch_plan, tiers
from warpglass.engine.cpu.experience import Experience
from warpglass.engine.cpu.worker import Control
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
extern "C" __global__ void mixed(const int *x, int *out) {
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) {
        int v = x[i + blockIdx.x], k = v & 3;
        if (v & 4) atomicMax(&out[k], v); else atomicMin(&out[k], v - 500);
        if (v & 8) atomicAdd(&out[4 + k], v); else atomicXor(&out[4 + k], v);
    }
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


def test_operations_of_two_kinds_on_one_element_have_one_order(threads: int, mode: str):
    out, want = np.zeros((2, 8), np.int32)
    launch("mixed", 100, 64, X, out)
    with engine_mode("reference"), worker_threads(1):
        launch("mixed", 100, 64, X, want)
    assert out.tolist() == want.tolist()


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
    [
        ("float_sum", True),
        ("compact", True),
        ("last", True),
        ("bins", False),
        ("mixed", True),
        ("in_shared", False),
    ],
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


class Visitor:
    """A worker that is about to take blocks, by its words alone."""

    def __init__(self, number: int, crew: np.ndarray):
        declared = set[str]()
        helpers = turn_helpers(declared)
        self._code = load_object(compile_ir("\n".join([*declared, helpers, _ASK]), quick=True))
        self._words = np.zeros(len(SLOT), np.int64)
        self._words[SLOT["number"]], self._words[SLOT["crew"]] = number, crew.ctypes.data

    def leaves(self, *, waited: bool) -> bool:
        """Whether it takes no more, after a block in which it has waited most of the time or never."""
        self._words[SLOT["begun"]], self._words[SLOT["waited"]] = 0, (1 << 61) * waited
        return bool(self._code.run(self._words.ctypes.data))


_ASK = """
define i64 @run(ptr %context) #0 {
  %spare = call i1 @wg_is_spare(ptr %context)
  %answer = zext i1 %spare to i64
  ret i64 %answer
}
"""


def test_the_last_worker_leaves_where_blocks_only_wait() -> None:
    crew = np.full(1, 3, np.int64)
    first, second, third = (Visitor(number, crew) for number in range(3))
    assert not any(third.leaves(waited=False) for _ in range(20))
    assert not any(third.leaves(waited=waited) for waited in (True, False) * 20)
    found = [(second.leaves(waited=True), third.leaves(waited=True)) for _ in range(4)]
    assert (found, crew[0]) == ([(False, False)] * 3 + [(False, True)], 2)
    assert [second.leaves(waited=True) for _ in range(5)] == [False] * 4 + [True]  # seen anew with one less
    assert crew[0] == 1
    assert not any(first.leaves(waited=True) for _ in range(20))


def test_launches_begin_without_those_that_have_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_THREADS", "3")
    monkeypatch.setenv(tiers.VARIABLE, tiers.QUICK)
    monkeypatch.setattr(launch_plan, "spare_cores", lambda: 2)
    monkeypatch.setattr(Control, "crew", property(lambda control: 1, lambda control, count: None))
    begun: list[int] = []
    make = launch_plan.make_plan

    def noting(*given):  # type: ignore[no-untyped-def]
        plan = make(*given)
        begun.append(plan.count)
        return plan

    monkeypatch.setattr("warpglass.engine.cpu.backend.make_plan", noting)
    kernel = lab.compile(SOURCE.replace("% 2", "% 4 == 3"), "last")  # that no other test has run
    for _ in range(3):
        out = np.zeros(1, np.int32)
        lab.run(kernel, 2000, 64, (out,), device="cpu")
        assert out[0] == 2000 * 64 - 1
    assert begun[:2] == [3, 1]


@pytest.mark.parametrize(("alone", "best"), [(1e-6, 1), (3e-6, None)])
def test_one_worker_is_tried_where_they_contend(alone: float, best: int | None) -> None:
    found = Experience()

    def note(count: int, each: float, *, contended: bool = True, code: str = "quick") -> None:
        found.note_contention(count, 100, 100 * each, code, contended=contended)

    for _ in range(9):  # nothing says that one is better
        note(4, 2e-6, contended=False)
        note(1, 1e-6)
    assert found.workers_for(100) is None
    for seconds in (9e-6, 2e-6, 5e-6):
        assert found.workers_for(100) is None
        note(4, seconds)
    for seconds in (9e-6, alone, 5e-6):
        assert found.workers_for(100) == 1
        note(1, seconds)
    for _ in range(1024):
        assert found.workers_for(200) == best
        assert found.workers_for(201) is None  # more blocks may be worth more workers
        note(best or 4, 2e-6)
    if best == 1:
        assert found.workers is None
        for seconds in (2e-6, 2e-6, 2e-6):
            note(4, seconds)
        assert found.workers == 1
        for seconds in (1e-6, 1e-6, 1e-6, 3e-6):  # the last one takes unlike longer
            assert found.workers == 1
            note(1, seconds)
    assert found.workers is None
    for _ in range(3):
        note(4, 2e-6, code="optimised")  # other code, other times
    assert found.workers == 1


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
