"""Launches checked again in random orders: what shows, what stays behind, for which orders it holds."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from tests.levels import FULL
from warpglass.engine.cpu.order import Order
from warpglass.lab import check as lab_check
from warpglass.records.schedules import ALL_SCHEDULES, SAME_ORDER, schedule_of_all

from .corpus import TWINS, judge, read_cases, show

# Block 0 looks whether block 1 has come, and by number it has not.
HIDDEN = """
extern "C" __global__ void hidden(int* data, int* ready, int* out) {
  if (blockIdx.x == 1) {
    data[threadIdx.x] = threadIdx.x;
    atomicExch(ready, 1);
  } else if (atomicAdd(ready, 0) == 1) {
    out[threadIdx.x] = data[threadIdx.x];
  }
}"""

TRACES = r"""
__device__ int runs = 0;
extern "C" __global__ void traces(int* order, int* count, int* total, float* sum) {
  int block = atomicAdd(count, 1);
  order[block] = blockIdx.x;
  atomicAdd(sum, 1.0f / (1 + blockIdx.x));
  if (blockIdx.x == 0) { total[0] = ++runs; printf("run %d\n", runs); free(malloc(8)); }
}"""

# What decides, and the orders that the verdict is for.
DECISIONS = {
    "nothing": ("x[t] = t;", ALL_SCHEDULES),
    "counts": ("atomicAdd(x + t % 2, 1);", ALL_SCHEDULES),
    "counted, then read": ("__shared__ int n; if (t == 0) n = 0; __syncthreads(); atomicAdd(&n, 1); "
                           "__syncthreads(); for (int i = 0; i < n; i++) x[t] = i;", ALL_SCHEDULES),
    "race": ("__shared__ int s[64]; s[t] = t; x[t] = s[63 - t];", ALL_SCHEDULES),
    "race decides": ("__shared__ int s[64]; s[t] = t; if (s[63 - t] > 7) x[t] = 1;", SAME_ORDER),
    "race as address": ("__shared__ int s[64]; s[t] = t; x[s[63 - t] & 63] = 1;", SAME_ORDER),
    "through memory": ("__shared__ int s[64], u[64]; s[t] = t; u[t] = s[63 - t]; __syncthreads(); "
                       "x[u[t ^ 1] & 63] = 1;", SAME_ORDER),
    "slots": ("x[atomicAdd(x + 64, 1) & 63] = t;", SAME_ORDER),
    "same value": ("__shared__ int s; s = 1; __syncthreads(); if (s) x[t] = 1;", ALL_SCHEDULES),
    "flag": ("volatile int* v = x + 64; if (v[0]) x[t] = 1;", SAME_ORDER),
    "exchange": ("__shared__ int s; atomicExch(&s, t); __syncthreads(); if (s > 7) x[t] = 1;", SAME_ORDER),
    "clock": ("if (clock() & 1) x[t] = 1;", SAME_ORDER),
    "mask": ("__shared__ int s[64]; s[t] = ~0; x[t] = __shfl_sync(s[63 - t], t, 0);", SAME_ORDER),
}  # fmt: skip


def hidden(**options: Any) -> wg.Check:
    data, ready, out = (np.zeros(size, np.int32) for size in (32, 1, 32))
    found = wg.check(wg.compile(HIDDEN, "hidden"), 2, 32, (data, ready, out), **options)
    assert (data.tolist(), ready.tolist(), out.tolist()) == ([*range(32)], [1], [0] * 32)
    return found


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_what_only_another_order_shows_names_its_seed(engine: str) -> None:
    with engine_mode(engine):
        assert hidden().findings == ()
        found = hidden(schedules=6)
        (race,) = found.findings
        assert race.seed is not None
        assert (race.kind, race.holds, found.holds) == ("global-race", SAME_ORDER, SAME_ORDER)
        assert found.seeds == (1, 2, 3, 4, 5, 6)
        assert "6 random orders, seeds 1 to 6" in found.schedule
        again = hidden(seed=race.seed)
        assert again.findings == found.findings
        assert again.seeds == (race.seed,)
        assert all(hidden(seed=seed).findings == () for seed in range(1, race.seed))


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_a_launch_leaves_what_one_run_leaves(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = wg.compile(TRACES, "traces")

    def launch(schedules: int) -> list[Any]:
        arrays = np.zeros(7, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.float32)
        found = wg.check(kernel, 7, 1, arrays, schedules=schedules)
        assert found.findings == ()
        return [array.tolist() for array in arrays]

    with engine_mode(engine):
        first, second, third = launch(0), launch(5), launch(0)
    assert first[0] == second[0] == [*range(7)]
    assert (first[1], first[3]) == (second[1], second[3])
    runs = [one[2][0] for one in (first, second, third)]
    assert runs == [runs[0], runs[0] + 1, runs[0] + 2]
    assert capsys.readouterr().out == "".join(f"run {int(run)}\n" for run in runs)


def test_views_and_read_only_arrays_are_put_back() -> None:
    text = 'extern "C" __global__ void k(const int* x, int* y) { y[threadIdx.x] += x[threadIdx.x]; }'
    x, whole = np.arange(8, dtype=np.int32), np.full(24, 5, np.int32)
    x.flags.writeable = False
    wg.check(wg.compile(text, "k"), 1, 8, (x, whole[8:16]), schedules=3)
    assert whole.tolist() == [5] * 8 + [5 + value for value in range(8)] + [5] * 8


@pytest.mark.parametrize(
    ("fails", "kind", "left"),
    [("__trap()", "trap", [1, 1, 1, 0]), ("x[n] = 1", "out-of-bounds", [1, 1, 1, 1])],
)
def test_a_launch_that_fails_leaves_what_it_had_written(fails: str, kind: str, left: list[int]) -> None:
    text = f"""extern "C" __global__ void k(int* x, int n) {{
  x[blockIdx.x]++;
  if (blockIdx.x == 2) {fails};
}}"""
    x = np.zeros(4, np.int32)
    found = wg.check(wg.compile(text, "k"), 4, 1, (x, 4), schedules=8)
    assert [(one.kind, one.seed) for one in found.findings] == [(kind, None)]
    assert x.tolist() == left  # a refused access alone does not end the kernel


def test_a_launch_that_does_not_end_is_made_once() -> None:
    text = 'extern "C" __global__ void k(volatile int* x) { while (x[0] == 0); }'
    found = wg.check(wg.compile(text, "k"), 1, 1, (np.zeros(1, np.int32),), schedules=50, timeout=0.3)
    assert [one.kind for one in found.findings] == ["timeout"]
    assert found.seeds == ()
    assert found.notes == ("the launch did not end, so it was not run in other orders",)


def test_ctrl_c_in_another_order_leaves_the_results_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """extern "C" __global__ void k(int* x) {
  for (int i = 0; i < 1 << 18; i++) x[threadIdx.x] += i & 3;
}"""
    kernel, x = wg.compile(text, "k"), np.zeros(32, np.int32)
    wg.check(kernel, 1, 32, (x,))
    expected, x[:] = x.copy(), 0

    def interrupted(seed: int) -> Order:
        if seed == 2:
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        return Order(seed)

    monkeypatch.setattr(lab_check, "Order", interrupted)
    with pytest.raises(KeyboardInterrupt):
        wg.check(kernel, 1, 32, (x,), schedules=1_000_000)
    assert x.tolist() == expected.tolist()


def test_what_a_python_kernel_raises_is_a_trap() -> None:
    cuda = pytest.importorskip("numba_cuda_mlir.cuda")

    @cuda.jit(debug=True, opt=False)
    def kernel(x):
        if x[0] == 0:
            raise ValueError("an empty picture")

    found = wg.check(wg.from_numba(kernel), 1, 1, (np.zeros(1, np.int32),), schedules=1)
    assert [one.kind for one in found.findings] == ["trap"]
    assert "the kernel raises ValueError" in found.findings[0].message


@pytest.mark.parametrize(
    "options",
    [
        {"schedules": -1},
        {"schedules": 2.0},
        {"seed": -1},
        {"seed": 1 << 32},
        {"seed": "x"},
        {"schedules": True},
    ],
)
def test_what_is_no_number_of_orders_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(wg.ArgumentError, match=next(iter(options))):
        hidden(**options)


@pytest.mark.turns(3)
def test_no_room_for_copies_is_said_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_MEMORY", "64M")
    x = np.zeros(20 << 20, np.uint8)
    text = 'extern "C" __global__ void k(char* x) { x[0] = 1; }'
    with pytest.raises(wg.ArgumentError, match="a copy of its arrays is needed"):
        wg.check(wg.compile(text, "k"), 1, 1, (x,), schedules=1)
    assert x[0] == 0


@pytest.mark.parametrize("name", DECISIONS)
def test_a_verdict_says_for_which_orders_it_holds(name: str) -> None:
    body, holds = DECISIONS[name]
    text = f'extern "C" __global__ void k(int* x) {{ int t = threadIdx.x; {body} }}'
    found = wg.check(wg.compile(text, "k"), 1, 64, (np.zeros(65, np.int32),))
    assert found.holds == holds, found.findings
    assert all(one.holds == holds for one in found.findings)
    assert found.schedule.endswith(holds)


# A launch with a time limit of its own may not end: that takes the seconds of the limit every time.
_NAMES = [name for name, case in read_cases().items() if case.launches["buggy"].timeout >= 30]


@pytest.mark.sampled(quick=80, ci=45)
@pytest.mark.parametrize("name", _NAMES)
def test_other_orders_show_nothing_else(name: str) -> None:
    case = read_cases()[name]
    for twin in TWINS:
        found = case.check(twin, schedules=20 if FULL else 4)
        assert [show(one) for one in found.findings if one.seed is not None] == []
        assert judge(case, twin, found.findings) == "right"


def test_checks_of_several_threads_do_not_disturb_each_other() -> None:
    text = """extern "C" __global__ void k(int* x, int n) { x[n * blockIdx.x] = 1; }"""
    kernel = wg.compile(text, "k")

    def check(step: int) -> list[str]:
        found = wg.check(kernel, 4, 1, (np.zeros(16, np.int32), step), schedules=3)
        return [one.kind for one in found.findings]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(check, [1, 9, 2, 9, 3, 9, 4, 9]))
    assert found == [[], ["out-of-bounds"]] * 4


def test_the_sentence_for_several_launches_is_one() -> None:
    same = schedule_of_all([("a", (), ALL_SCHEDULES), ("b", (), ALL_SCHEDULES)])
    assert same.endswith("the verdict holds for all schedules")
    apart = schedule_of_all([("a", (), ALL_SCHEDULES), ("b", (1, 2), SAME_ORDER), ("a", (), ALL_SCHEDULES)])
    assert apart.endswith(
        "then in 2 random orders, seeds 1 to 2; the verdict holds of b for schedules with the same "
        "synchronisation order, of all other launches for all schedules"
    )
