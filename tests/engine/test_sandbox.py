"""What a kernel or a launch may take of this process: bounded memory, no hang, no crash."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from warpglass import lab
from warpglass.engine.cpu.heap import Heap
from warpglass.engine.cpu.printf import format_printf
from warpglass.errors import ArgumentError, KernelFault, KernelTimeout, LaunchError

pytestmark = pytest.mark.turns(2)

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
KERNEL = (
    HEAD
    + "{module}\n.visible .entry k(.param .u64 p) {{\n{local}\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [p];\n"
    + "mov.u64 %rd2, big;\nst{space}.u32 [%rd2], 1;\nst.global.u32 [%rd1], 1;\nret; }}"
)
SOURCE = r"""
extern "C" __global__ void nothing(int* x) {}
extern "C" __global__ void add(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}
extern "C" __global__ void spin(volatile int* x) { while (x[0] == 0); }
extern "C" __global__ void print(int* x) { for (;;) printf("%d\n", x[0]); }
extern "C" __global__ void recycle(int* x) { for (;;) free(malloc(8)); }
extern "C" __global__ void hoard(int* x) { while (malloc(1)) x[0]++; }
__device__ int f(int n) { return n <= 0 ? 0 : 1 + f(n - 1) * 2; }
extern "C" __global__ void recurse(int* x) { x[0] = f(1000000); }
"""
COOPERATIVE = (
    "#include <cooperative_groups.h>\n"
    'extern "C" __global__ void c(int* x) { cooperative_groups::this_grid().sync(); atomicAdd(x, 1); }\n'
)


def declared(space: str, size: int) -> lab.Kernel:
    variable = f".{space} .align 8 .b8 big[{size}];"
    local = space == "local"
    text = KERNEL.format(module="" if local else variable, local=variable if local else "", space=f".{space}")
    return lab.compile(text, "k", language="ptx")


def launch(name: str, grid: object, block: int, *args: object, **options: object) -> None:
    lab.run(lab.compile(SOURCE, name), grid, block, args, device="cpu", **options)  # type: ignore[arg-type]


def words(count: int = 64) -> np.ndarray:
    return np.zeros(count, np.int32)


# ---------------------------------------------------------------------------------------- memory
@pytest.mark.parametrize("space", ["local", "global"])
def test_too_much_declared_memory_is_refused(mode: str, space: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_MEMORY", "64M")
    kernel = declared(space, 30 << 20)
    what = "local memory" if space == "local" else "module variable"
    with pytest.raises(LaunchError, match=f"{what}.* 64 MiB are allowed.*WARPGLASS_MEMORY=") as caught:
        lab.run(kernel, 1, 32, (words(),), device="cpu")
    error = caught.value
    assert (error.cuda_name, error.synchronous, error.sticky) == ("cudaErrorMemoryAllocation", True, False)
    monkeypatch.setenv("WARPGLASS_MEMORY", "4G")  # neither the refusal nor the kernel has broken anything
    out = words()
    lab.run(kernel, 1, 32, (out,), device="cpu")
    assert out[0] == 1


def test_no_declaration_is_too_large_to_be_refused(mode: str) -> None:
    for space in ("local", "global"):
        with pytest.raises(LaunchError, match="cudaErrorMemoryAllocation"):
            lab.run(declared(space, 1 << 45), 1, 32, (words(),), device="cpu")
    with pytest.raises(LaunchError, match="cudaErrorInvalidPtx"):
        lab.run(declared("shared", 1 << 31), 1, 32, (words(),), device="cpu")


def test_fewer_workers_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_THREADS", "8")
    monkeypatch.setenv("WARPGLASS_MEMORY", "60M")  # room for one of the eight
    out = words()
    lab.run(declared("local", 1 << 20), 64, 32, (out,), device="cpu")
    assert out[0] == 1


def test_a_cooperative_grid_has_the_devices_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = lab.compile(COOPERATIVE, "c")
    with pytest.raises(LaunchError, match="1048576 blocks of 32 threads .* at most 4224") as caught:
        lab.run(kernel, 1 << 20, 32, (words(),), device="cpu")
    assert caught.value.cuda_name == "cudaErrorCooperativeLaunchTooLarge"
    monkeypatch.setenv("WARPGLASS_MEMORY", "16M")
    with pytest.raises(LaunchError, match="all 4000 blocks of the grid at once"):
        lab.run(kernel, 4000, 32, (words(),), device="cpu")
    out = words()
    lab.run(kernel, 20, 32, (out,), device="cpu")
    assert out[0] == 640


def test_endless_output_is_cut(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpglass.engine.cpu.system._MOST_OUTPUT", 10_000)
    with pytest.raises(KernelTimeout):
        launch("print", 2, 32, words(), timeout=0.5)
    printed = capsys.readouterr().out
    assert printed.endswith("output is cut]\n")
    assert len(printed) < 1000


def test_one_call_of_printf_is_bounded() -> None:
    printed, _ = format_printf(b"%65536d" * 10_000, lambda offset, size: bytes(size), lambda address: b"")
    assert len(printed) == 1 << 20


@pytest.mark.parametrize("name", ["recycle", "hoard"])
def test_endless_allocation_ends(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_MEMORY", "1M")
    with pytest.raises(LaunchError, match="calls of malloc in one launch"):
        launch(name, 1, 32, words())
    lab.reset("cpu")


def test_the_heap_counts_what_small_pieces_cost() -> None:
    heap = Heap()
    count = 0
    while heap.allocate(1, ((0, 0, 0), (0, 0, 0))):
        count += 1
    assert count == (8 << 20) // 32


def test_recursion_ends_at_the_stack(mode: str) -> None:
    with pytest.raises(KernelFault, match="stack of 8192 bytes is full"):
        launch("recurse", 1, 1, words())


# ---------------------------------------------------------------------------------------- launches
@pytest.mark.parametrize("grid", [2**31 - 1, (2**31 - 1, 65535, 65535)])
def test_the_largest_grids_are_stopped_in_time(mode: str, grid: object) -> None:
    begun = time.monotonic()
    with pytest.raises(KernelTimeout):
        launch("nothing", grid, 1, words(), timeout=0.5)
    assert time.monotonic() - begun < 10


def test_arrays_without_elements() -> None:
    launch("add", 1, 32, words(0), 0)
    with pytest.raises(KernelFault, match="x has 0 elements"):
        launch("add", 1, 32, words(0), 1)


def test_a_file_that_is_mapped_for_reading_is_not_written(tmp_path: object) -> None:
    path = f"{tmp_path}/data"
    words().tofile(path)
    with pytest.raises(KernelFault, match="read-only"):
        launch("add", 1, 32, np.memmap(path, np.int32, "r"), 32)
    assert not np.fromfile(path, np.int32).any()


@pytest.mark.parametrize("timeout", [float("nan"), 0, -1, "1", None])
def test_a_timeout_that_is_none(timeout: object) -> None:
    with pytest.raises(ArgumentError, match="timeout is"):
        launch("nothing", 1, 32, words(), timeout=timeout)


def test_the_shortest_and_the_longest_timeout() -> None:
    with pytest.raises(KernelTimeout):
        launch("spin", 1, 32, words(), timeout=1e-9)
    lab.reset("cpu")
    launch("nothing", 1, 32, words(), timeout=float("inf"))


# ---------------------------------------------------------------------------------------- processes
EXIT = """
    import sys, threading, time
    import numpy as np
    from warpglass import lab
    from tests.engine.test_sandbox import SOURCE
    spin = lab.compile(SOURCE, "spin")
    x = np.zeros(64, np.int32)
    thread = threading.Thread(
        target=lambda: lab.run(spin, 1, 32, (x,), device="cpu", timeout=30), daemon=True
    )
    thread.start()
    time.sleep(0.3)
    print("leaving")
"""
FORK = """
    import multiprocessing, sys
    import numpy as np
    from warpglass import lab
    from tests.engine.test_sandbox import SOURCE

    def work(k):
        x = np.zeros(64, np.int32)
        text = SOURCE + f"// {k}"  # compiled by the child itself
        lab.run(lab.compile(text, "add"), 16, 32, (x, 64), device="cpu", timeout=20)
        return int(x.sum())

    if __name__ == "__main__":
        work(0)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(work, range(1, 5)))
"""
INTERRUPT = """
    import os, signal, threading, time
    from warpglass import lab
    from tests.source.test_hostile_source import BOMBS, KERNEL
    lab.compile("#define VALUE 1\\n" + KERNEL, "k")
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    try:
        lab.compile(BOMBS["templates"] + KERNEL, "k")
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - begun < 3)
    lab.compile("#define VALUE 2\\n" + KERNEL, "k")
    print("went on")
"""


def script(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(text)],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "WARPGLASS_CACHE": ""},
    )


def test_the_interpreter_ends_while_a_kernel_runs() -> None:
    done = script(EXIT)
    assert (done.returncode, done.stdout) == (0, "leaving\n"), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forked_processes_compile_and_launch() -> None:
    done = script(FORK)
    assert done.stdout == "[64, 64, 64, 64]\n", done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill cannot send SIGINT there")
def test_ctrl_c_while_a_kernel_is_compiled() -> None:
    done = script(INTERRUPT)
    assert done.stdout == "interrupted True\nwent on\n", done.stderr
