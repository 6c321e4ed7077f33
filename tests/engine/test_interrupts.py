"""Ctrl-C, timeouts, threads and forks: launches end when they should, and the process goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from warpglass import lab
from warpglass.errors import KernelFault, KernelTimeout, LaunchError

SOURCE = r"""
extern "C" __global__ void spin(volatile int* x) {
    int i = 0;
    while (x[0] == 0)
        i++;
    x[1] = i;
}
extern "C" __global__ void spin_at_barrier(volatile int* x) {
    while (x[0] == 0)
        __syncthreads();
}
extern "C" __global__ void spin_in_odd_lanes(volatile int* x) {
    if (threadIdx.x % 2)
        while (x[0] == 0)
            x[1] = 1;
}
extern "C" __global__ void many_blocks(int* x) {
    int s = 0;
    for (int i = 0; i < 3000; i++)
        s += x[i & 63];
    if (s == 77) x[1] = s;
}
extern "C" __global__ void fault_or_spin(volatile int* x) {
    if (blockIdx.x == 1) x[64] = 1;
    while (x[0] == 0)
        x[1] = 1;
}
extern "C" __global__ void sum(const double* x, double* out, int n) {
    __shared__ double part[128];
    double mine = 0;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) mine += x[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 64; half; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
"""
ENDLESS = [
    ("spin", 1),
    ("spin", 100),
    ("spin_at_barrier", 3),
    ("spin_in_odd_lanes", 1),
    ("many_blocks", 10**7),
]


def line_of(text: str) -> int:
    return next(k for k, line in enumerate(SOURCE.split("\n"), 1) if text in line)


def total(n: int = 5000, grid: int = 37) -> np.ndarray:
    """Run a well-behaved kernel and return what it computes."""
    x = np.sin(np.arange(n, dtype=np.float64))
    out = np.zeros(grid)
    lab.run(lab.compile(SOURCE, "sum"), grid, 128, (x, out, n), device="cpu")
    np.testing.assert_allclose(out.sum(), x.sum(), atol=1e-10)
    return out


# ---------------------------------------------------------------------------------------- timeouts
@pytest.mark.sampled(quick=5)
@pytest.mark.parametrize(("name", "grid"), ENDLESS)
def test_a_timeout_names_the_loop(mode: str, name: str, grid: int) -> None:
    kernel = lab.compile(SOURCE, name)
    x = np.ones(64, np.int32)
    lab.run(kernel, 1, 64, (x,), device="cpu")
    x[:] = 0
    begun = time.monotonic()
    with pytest.raises(KernelTimeout, match=f"{name} did not end within 0.3 s") as caught:
        lab.run(kernel, grid, 64, (x,), device="cpu", timeout=0.3)
    assert time.monotonic() - begun < 2
    error = caught.value
    assert (error.cuda_name, error.synchronous, error.sticky) == ("cudaErrorLaunchTimeout", False, True)
    if name != "many_blocks":  # may also be stopped between blocks
        assert error.place is not None
        assert error.place.kind == "timeout"
        assert error.place.line in range(line_of(f" {name}("), line_of(f" {name}(") + 5)
        assert f"<cuda>:{error.place.line}: {name}" in str(error)
        assert error.place.thread in ((0, 0, 0), (32, 0, 0), (1, 0, 0), (33, 0, 0))
        assert error.place.thread[0] % 2 == int(name == "spin_in_odd_lanes")
    with pytest.raises(LaunchError, match="refuses"):
        total()
    lab.reset("cpu")
    total()


def test_a_fault_counts_more_than_the_timeout_it_causes(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Block 1 faults while block 0, on another worker, waits for ever: as on a GPU the fault ends both."""
    monkeypatch.setenv("WARPGLASS_THREADS", "2")
    begun = time.monotonic()
    with pytest.raises(KernelFault) as caught:
        lab.run(lab.compile(SOURCE, "fault_or_spin"), 16, 1, (np.zeros(64, np.int32),), device="cpu")
    assert caught.value.place.block == (1, 0, 0)
    assert time.monotonic() - begun < 10


# ---------------------------------------------------------------------------------------- Ctrl-C
SCRIPT = """
import os, signal, sys, threading, time
import numpy as np
from warpglass import lab
from tests.engine.test_interrupts import SOURCE, total
name, grid = sys.argv[1], int(sys.argv[2])
kernel = lab.compile(SOURCE, name)
x = np.ones(64, np.int32)
lab.run(kernel, 1, 64, (x,), device="cpu")
total()
x[:] = 0
for presses in (1, 5):
    def press():
        time.sleep(0.3)
        for _ in range(presses):
            os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=press).start()
    begun = time.monotonic()
    try:
        try:
            lab.run(kernel, grid, 64, (x,), device="cpu", timeout=20)
        except KeyboardInterrupt:
            late = time.monotonic() - begun - 0.3
        time.sleep(0.2)
    except KeyboardInterrupt:  # a later press, after the launch
        pass
    assert late < 1, late
    total()
print("went on")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill cannot send SIGINT there")
@pytest.mark.parametrize(("name", "grid"), ENDLESS)
def test_ctrl_c(name: str, grid: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, name, str(grid)],
        capture_output=True,
        text=True,
        timeout=60,
        env=_path(),
    )
    assert done.stdout == "went on\n", done.stderr


def _path() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


# ---------------------------------------------------------------------------------------- threads
def test_results_do_not_depend_on_the_number_of_workers(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("WARPGLASS_THREADS", threads)
        results += [total(), total(1000, 3), total(31, 1)]
    for k in range(3):
        assert (results[k] == results[k + 3]).all()
        assert (results[k] == results[k + 6]).all()


def test_launches_from_several_threads(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads share one kernel, and so its workers' shared memory and frames."""
    monkeypatch.setenv("WARPGLASS_THREADS", "2")
    kernel = lab.compile(SOURCE, "sum")
    failures: list[str] = []

    def work(seed: int) -> None:
        for n in range(100, 160):
            x = np.random.default_rng(seed + n).integers(0, 1000, n).astype(np.float64)
            out = np.zeros(8)
            lab.run(kernel, 8, 128, (x, out, n), device="cpu")
            if out.sum() != x.sum():
                failures.append(f"{seed} {n}: {out.sum()} instead of {x.sum()}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_the_number_of_threads_stays() -> None:
    total()
    before = threading.active_count()
    for _ in range(50):
        total()
    assert threading.active_count() <= before + 2  # the guard, and who runs alone, start when they are of use


# ---------------------------------------------------------------------------------------- forks
FORKED = """
import os, threading, time
import numpy as np
from warpglass import lab
from tests.engine.test_interrupts import SOURCE, total
total()
spin = lab.compile(SOURCE, "spin")
x = np.ones(64, np.int32)
lab.run(spin, 1, 32, (x,), device="cpu")  # compiled: whoever forks within LLVM inherits its locks
x[:] = 0
busy = threading.Thread(target=lambda: lab.run(spin, 1, 32, (x,), device="cpu"))
busy.start()
time.sleep(0.1)  # fork while another thread is in the middle of a launch
child = os.fork()
if child == 0:
    total()
    os._exit(7)
_, status = os.waitpid(child, 0)
x[0] = 1
busy.join()
total()
print("child", os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_launches_from_a_forked_child() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORKED)],
        capture_output=True,
        text=True,
        timeout=60,
        env=_path(),
    )
    assert done.stdout == "child 7\n", done.stderr
