"""Launches that come again: the plan of the first one holds for them, and for no launch that differs."""

from __future__ import annotations

import gc
import os
import weakref
from itertools import pairwise

import numpy as np
import pytest

import warpglass as wg
from warpglass.engine.cpu import launch_plan, replay, tiers
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.cpu.prepared import Prepared, prepare
from warpglass.engine.cpu.worker import Worker
from warpglass.engine.launch.backend import Launch
from warpglass.source.compiled import Compiled

SOURCE = """
__device__ int calls;
extern "C" __global__ void scale(const float* x, float* y, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = by * x[i];
}
extern "C" __global__ void count(int* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = calls++;
}
extern "C" __global__ void allocate(float** to) {
  *to = (float*)malloc(128);
  for (int i = 0; i < 32; i++) (*to)[i] = i;
}
extern "C" __global__ void take(float* const* from, float* out) {
  out[threadIdx.x] = (*from)[threadIdx.x];
}
"""
N = 200


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Optimised code has versions for launches that come again, so those are planned three times."""
    monkeypatch.setenv(tiers.VARIABLE, tiers.QUICK)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the kernels whose launches have been planned."""
    names: list[str] = []
    make = launch_plan.make_plan

    def noting(launch, *others):  # type: ignore[no-untyped-def]
        names.append(launch.compiled.name)
        return make(launch, *others)

    monkeypatch.setattr("warpglass.engine.cpu.backend.make_plan", noting)
    return names


@pytest.fixture(scope="module")
def scale() -> wg.Kernel:
    return wg.compile(SOURCE, "scale")


def run(kernel: wg.Kernel, *args: object, grid: int = 4, block: int = 64) -> None:
    wg.run(kernel, grid, block, args, device="cpu")


def bits(array: np.ndarray) -> list[int]:
    return array.view(np.uint32).tolist()


def test_a_launch_that_comes_again_is_planned_once(scale: wg.Kernel, made: list[str]) -> None:
    x, y = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    for _ in range(3):
        y[:] = 0
        x += 1
        run(scale, x, y, 2.0, N)
        np.testing.assert_array_equal(y, 2 * x)
    assert made == ["scale"]


def test_whatever_differs_is_seen(scale: wg.Kernel, made: list[str]) -> None:
    x, y, other = np.arange(N, dtype=np.float32), np.zeros(N, np.float32), np.zeros(N, np.float32)
    for by, n in ((0.0, N), (-0.0, N), (np.float32(-3), N), (float("nan"), 5), (1, N), (1.0, 7)):
        for out in (y, other, y):
            out[:] = 9
            run(scale, x, out, by, n)
            want = np.full(N, 9, np.float32)
            want[:n] = np.float32(by) * x[:n]
            np.testing.assert_array_equal(np.isnan(out), np.isnan(want))
            assert np.isnan(by) or bits(out) == bits(want), (by, n)
    assert len(made) == 2 * 3  # for each type that `by` has; y's second launch is the first one's again
    y[:] = 0
    run(scale, x, y, 1.0, N, grid=2)  # another grid
    np.testing.assert_array_equal(y, np.where(np.arange(N) < 128, x, 0))


def test_what_is_refused_is_refused_each_time(scale: wg.Kernel) -> None:
    x, y = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    run(scale, x, y, 2.0, N)
    for bad in (True, "2", None):
        for _ in range(2):
            with pytest.raises(wg.ArgumentError, match=r"argument 3 of 4 \(by\)"):
                run(scale, x, y, bad, N)
    with pytest.raises(wg.ArgumentError, match=r"argument 4 of 4 \(n\) got the float"):
        run(scale, x, y, 2.0, float(N))
    with pytest.raises(wg.ArgumentError, match="takes 4 arguments"):
        run(scale, x, y, 2.0)
    x.shape = (2, N // 2)
    run(scale, x, y, 3.0, N)
    np.testing.assert_array_equal(y, 3 * x.ravel())
    with pytest.raises(wg.ArgumentError, match="not contiguous"):
        run(scale, x.T, y, 2.0, N)


def test_an_array_that_becomes_read_only_or_smaller(scale: wg.Kernel) -> None:
    x, y = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    for _ in range(2):
        run(scale, x, y, 2.0, N)
    y.flags.writeable = False
    for _ in range(2):
        with pytest.raises(wg.KernelFault, match="y.*read-only") as caught:
            run(scale, x, y, 2.0, N)
        assert caught.value.place.array == "y"
        with pytest.raises(wg.LaunchError, match="refuses all work"):
            run(scale, x, x, 2.0, N)
        wg.reset("cpu")
    y.flags.writeable = True
    whole = y.base if y.base is not None else y
    whole.resize(N // 2, refcheck=False)
    with pytest.raises(wg.KernelFault, match=rf"y\[{N // 2}\].*block \(1, 0, 0\) thread \(36, 0, 0\)"):
        run(scale, x, y, 2.0, N)
    wg.reset("cpu")


def test_a_fault_in_a_launch_that_comes_again(scale: wg.Kernel, made: list[str]) -> None:
    """An index that memory decides: only the last of equal launches leaves its array."""
    kernel = wg.compile(
        'extern "C" __global__ void put(const int* at, int* y) { y[at[threadIdx.x]] = threadIdx.x; }', "put"
    )
    at, y = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    for _ in range(2):
        run(kernel, at, y, grid=1, block=32)
    at[17] = 32
    for _ in range(2):
        with pytest.raises(wg.KernelFault, match=r"y\[32\].*thread \(17, 0, 0\)"):
            run(kernel, at, y, grid=1, block=32)
        wg.reset("cpu")
    at[17] = 3
    run(kernel, at, y, grid=1, block=32)
    assert y[3] == 17


def test_views_of_one_owner(scale: wg.Kernel) -> None:
    """Moving a window along its owner; the memory that it may leave for is the owner's."""
    whole = np.arange(4 * N, dtype=np.float32)
    for start in (0, 8, 8, 16, 0):
        x, y = whole[start : start + N], whole[2 * N + start :][:N]
        y[:] = 0
        run(scale, x, y, 2.0, N)
        np.testing.assert_array_equal(y, 2 * x)
    run(scale, whole[:8], whole[2 * N :][:8], 1.0, N)  # beyond the views, within the owner
    np.testing.assert_array_equal(whole[2 * N :][:N], whole[:N])
    alone = whole[:8].copy()
    with pytest.raises(wg.KernelFault, match=r"x\[8\]"):
        run(scale, alone, whole[2 * N :], 1.0, N)
    wg.reset("cpu")


@pytest.mark.parametrize(
    ("variable", "other"),
    [("WARPGLASS_ENGINE", "reference"), ("WARPGLASS_TIER", "optimised"), ("WARPGLASS_THREADS", "7")],
)
def test_settings_are_looked_at_each_time(
    scale: wg.Kernel, made: list[str], variable: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    run(scale, x, y, 2.0, N)
    usual = os.environ.get(variable)
    monkeypatch.setenv(variable, other)
    run(scale, x, y, 2.0, N)
    assert len(made) == 2
    monkeypatch.setenv(variable, usual) if usual else monkeypatch.delenv(variable)
    run(scale, x, y, 2.0, N)
    assert len(made) == 2
    if variable != "WARPGLASS_THREADS":
        monkeypatch.setenv(variable, "wrong")
        with pytest.raises(wg.ArgumentError, match="WARPGLASS_.* is 'wrong'"):
            run(scale, x, y, 2.0, N)


def test_too_little_memory_is_found_whenever_it_is(scale: wg.Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    run(scale, x, y, 2.0, N)
    monkeypatch.setenv("WARPGLASS_MEMORY", "1K")
    with pytest.raises(wg.LaunchError, match="1 KiB are allowed"):
        run(scale, x, y, 2.0, N)


def test_variables_keep_their_values(made: list[str]) -> None:
    kernel, out = wg.compile(SOURCE, "count"), np.zeros(1, np.int32)
    for call in range(4):
        run(kernel, out, grid=1)
        assert out[0] == call
    assert made == ["count"]


def test_memory_from_malloc_is_seen_by_planned_launches() -> None:
    """Planned before there was any, and again after the device was reset."""
    device = CpuBackend()
    pointer, out = np.zeros(1, np.uint64), np.zeros(32, np.float32)
    allocate, take = wg.compile(SOURCE, "allocate"), wg.compile(SOURCE, "take")

    def launch(kernel: wg.Kernel, block: int, *args: object) -> None:
        device.run(wg.lab.make_launch(kernel, 1, block, args, 0, 60.0, device))

    for _ in range(2):
        pointer[0] = 0
        for _ in range(2):
            with pytest.raises(wg.KernelFault):
                launch(take, 32, pointer, out)
            device.reset()
        launch(allocate, 1, pointer)
        for _ in range(2):
            out[:] = 0
            launch(take, 32, pointer, out)
            np.testing.assert_array_equal(out, np.arange(32))
        device.reset()


def test_plans_keep_no_array_alive(scale: wg.Kernel) -> None:
    x, y = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    for _ in range(3):
        run(scale, x, y, 2.0, N)
    gone = weakref.ref(y)
    del y
    gc.collect()
    assert gone() is None


def test_the_oldest_plan_goes_first(
    scale: wg.Kernel, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_plan, "_PLANS", 2)
    x, y = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    for grid in (4, 5, 6, 4):
        run(scale, x, y, 2.0, N, grid=grid)
        np.testing.assert_array_equal(y, 2 * x)
    assert len(made) == 4


def test_a_plan_from_before_a_kernel_was_hot_makes_room(
    scale: wg.Kernel, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(tiers.VARIABLE, tiers.OPTIMISED)
    x, y = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    for spent in (tiers.LONG_KERNEL, 0.0):
        for _ in range(6):
            run(scale, x, y, 3.5, N)
        for kept in _plans()._kept.values():
            kept.general.tiers.add(spent)
    planned = len(made)
    run(scale, x, y, 3.5, N)
    assert len(made) == planned


def _plans() -> launch_plan.PlanCache:
    device = wg.lab.backend("cpu")
    assert isinstance(device, CpuBackend)
    return device._plans


def test_launches_that_differ_in_numbers_share_a_plan(scale: wg.Kernel, made: list[str]) -> None:
    """Numbers that come twice in a row get one of their own, which those of others do not disturb."""
    x, y = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    for by, n in ((0.5, 3), (1.5, 7), (1.5, 7), (1.5, 7), (2.5, 7), (1.5, 7), (-0.0, N), (0.0, N), (0.5, 3)):
        y[:] = 9
        run(scale, x, y, by, n)
        want = np.full(N, 9, np.float32)
        want[:n] = np.float32(by) * x[:n]
        assert bits(y) == bits(want)
    assert made == ["scale"]
    for wrong in ("many", 1 << 40):
        with pytest.raises(wg.ArgumentError, match="argument 4 of 4"):
            run(scale, x, y, 2.0, wrong)


def test_only_what_surely_ends_soon_is_run_by_the_launching_thread() -> None:
    """Nobody could interrupt it there, and quick code of a long kernel would take more stack than it has."""
    long = "x[threadIdx.x] ^= x[threadIdx.x + 1];" * 100
    source = f"""
    extern "C" __global__ void plain(int* x) {{ x[threadIdx.x] = blockIdx.x; }}
    extern "C" __global__ void loop(int* x) {{ while (x[0] == 7) x[threadIdx.x]++; }}
    extern "C" __global__ void unrolled(volatile int* x) {{ {long} }}"""
    plain, loop, unrolled = (
        prepare(wg.compile(source, name).compile()) for name in ("plain", "loop", "unrolled")
    )

    def joins(prepared: Prepared, blocks: int, timeout: float = 60.0) -> bool:
        compiled = wg.compile(source, prepared.program.name).compile()
        return replay.is_soon_over(prepared, Launch(compiled, (blocks, 1, 1), (32, 1, 1), (), 0, timeout))

    assert [joins(plain, blocks) for blocks in (1, 10_000, 10_000_000)] == [True, True, False]
    assert not joins(plain, 10_000, timeout=0.5)
    assert not joins(loop, 1)
    assert not joins(unrolled, 1)


def test_what_takes_no_time_is_no_step() -> None:
    """As the many parameters that each array of a Python kernel is."""
    loads = "ld.param.u64 %a, [x]; cvta.to.global.u64 %b, %a; mov.u64 %a, %b;"
    counts: list[int | None] = []
    for times in (1, 20):
        text = f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x) {{ .reg .b64 %a, %b; .reg .b32 %i; {loads * times}
  mov.u32 %i, %tid.x; mad.wide.u32 %b, %i, 4, %a; st.global.u32 [%b], %i; ret; }}"""
        counts.append(prepare(Compiled(text, "k", "k", "ptx")).most_steps)
    assert counts == [2, 2]


def test_launches_in_turn_fill_in_their_buffers_once(
    scale: wg.Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled: list[str] = []
    fill = Worker.fill

    def noting(worker: Worker, *others: object, **more: object) -> None:
        filled.append("fill")
        fill(worker, *others, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Worker, "fill", noting)
    x, y = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    expected = x.copy()
    for step in range(8):
        if step == 3:
            filled.clear()
        run(scale, x, y, 2.0, N)
        run(scale, y, x, 0.5, N)
        run(scale, x, y, 3.0, N)
        run(scale, y, x, 1.0, N)
        expected *= 3
    np.testing.assert_array_equal(x, expected)
    assert filled == []


def test_many_launches_in_turn(scale: wg.Kernel) -> None:
    arrays = [np.full(N, k, np.float32) for k in range(20)]
    for number in range(10):
        arrays[0].fill(number)
        for one, other in pairwise(arrays):
            run(scale, one, other, 1.0, N)
        assert (np.concatenate(arrays) == number).all()
