"""What the GPU back end promises, on a GPU.

Faults break the context, so each test that provokes one runs in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpglass as wg
from tests.gpu import kernels
from tests.gpu.kernels import compiled
from warpglass.engine.gpu.backend import GpuBackend
from warpglass.engine.launch.backend import Dim3, Launch
from warpglass.engine.launch.timing import time_launches
from warpglass.errors import ArgumentError, CompileError, LaunchError

pytestmark = pytest.mark.gpu

_ROOT = Path(__file__).parents[2]
N = 100_003


def launch(
    body: str, *args: object, grid: Dim3 = (1, 1, 1), block: Dim3 = (1, 1, 1), **options: Any
) -> Launch:
    return Launch(compiled(body), grid, block, args, **options)


def add(x: object, y: object, out: object, n: int = N) -> Launch:
    return launch(kernels.ADD, x, y, out, n, grid=(-(-n // 256), 1, 1), block=(256, 1, 1))


def inputs() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(1)
    x, y = rng.random(N, np.float32), rng.random(N, np.float32)
    return x, y, np.zeros(N, np.float32)


# ---------------------------------------------------------------------------------------- results and memory
def test_vector_add_on_host_arrays(gpu: GpuBackend):
    x, y, out = inputs()
    outcome = gpu.run(add(x, y, out))
    assert np.array_equal(out, x + y)
    assert outcome.label == "gpu"
    assert 0 < outcome.seconds < 0.1
    assert outcome.transfer_seconds > 0


def test_vector_add_on_device_arrays(gpu: GpuBackend):
    x, y, out = inputs()
    on_gpu = [gpu.to_device(array) for array in (x, y, out)]
    gpu.run(add(on_gpu[0], on_gpu[1], on_gpu[2]))
    assert np.array_equal(gpu.to_host(on_gpu[2]), x + y)
    assert not out.any()
    gpu.copy(on_gpu[0], on_gpu[2])
    assert np.array_equal(gpu.to_host(on_gpu[2]), x)


def test_views_of_one_owner_share_memory(gpu: GpuBackend):
    owner = np.zeros(64, np.float32)
    owner[:16] = 1
    gpu.run(add(owner[:16], owner[:16], owner[8:24], 16))
    gpu.run(add(owner[8:24], owner[8:24], owner[40:56], 16))
    assert np.array_equal(owner[8:24], np.full(16, 2))
    assert np.array_equal(owner[40:56], np.full(16, 4))
    assert not owner[24:40].any()
    assert not owner[56:].any()


def test_read_only_and_memory_mapped_inputs(gpu: GpuBackend, tmp_path: Path):
    x, y, out = inputs()
    x.flags.writeable = False
    mapped = np.memmap(tmp_path / "y", np.float32, "w+", shape=y.shape)
    mapped[:] = y
    gpu.run(add(x, mapped, out))
    assert np.array_equal(out, x + y)


def test_empty_arrays(gpu: GpuBackend):
    empty = np.zeros(0, np.float32)
    gpu.run(launch(kernels.ADD, empty, empty, empty, 0))


def test_structures_and_scalars_by_value(gpu: GpuBackend):
    out = np.zeros(1)
    pair = np.array((3, 0.5), np.dtype([("a", "i4"), ("b", "f4")]))
    gpu.run(launch(kernels.STRUCT, out, pair, 10, True))
    assert out[0] == 14.5


@pytest.mark.parametrize("shared", [4096, 48 * 1024, 64 * 1024])
def test_dynamic_shared_memory_beyond_the_default(gpu: GpuBackend, shared: int):
    words = shared // 4
    out = np.zeros(256, np.uint32)
    gpu.run(launch(kernels.SHARED, out, words, block=(256, 1, 1), shared=shared))
    assert np.array_equal(out, words - 1 - np.arange(256))


def test_numbers_of_launches_time_alike(gpu: GpuBackend):
    x, y, out = (gpu.to_device(array) for array in inputs())
    timing = time_launches(gpu, [add(x, y, out)], 5)
    assert len(timing.seconds) == 5
    assert 0 < timing.median < 0.01


# ---------------------------------------------------------------------------------------- loading
def test_ptx_newer_than_the_driver_still_loads(gpu: GpuBackend):
    out = np.zeros(4, np.float32)
    ones = np.ones(4, np.float32)
    kernel = compiled(kernels.ADD, version="9.9")
    gpu.run(Launch(kernel, (1, 1, 1), (4, 1, 1), (ones, ones, out, 4)))
    assert np.array_equal(out, [2, 2, 2, 2])


def test_ptx_for_a_newer_gpu_is_refused(gpu: GpuBackend):
    with pytest.raises(CompileError, match="pass target="):
        gpu.run(Launch(compiled(kernels.TRAP, target="sm_999"), (1, 1, 1), (1, 1, 1), (np.zeros(1),)))


def test_ptx_that_does_not_assemble_says_why(gpu: GpuBackend):
    body = kernels.TRAP.replace("trap;", "nonsense.u32 %r1, %r2;")
    with pytest.raises(CompileError, match="nonsense"):
        gpu.run(Launch(compiled(body), (1, 1, 1), (1, 1, 1), (np.zeros(1),)))


# ---------------------------------------------------------------------------------------- launch errors
@pytest.mark.parametrize(
    ("grid", "block", "shared", "name"),
    [
        ((1, 1, 1), (2048, 1, 1), 0, "cudaErrorInvalidConfiguration"),
        ((1, 1, 1), (1, 1, 128), 0, "cudaErrorInvalidConfiguration"),
        ((1, 70000, 1), (1, 1, 1), 0, "cudaErrorInvalidConfiguration"),
        ((1, 1, 1), (1, 1, 1), 1 << 20, "cudaErrorInvalidValue"),
    ],
)
def test_synchronous_errors_leave_the_device_usable(
    gpu: GpuBackend, grid: Dim3, block: Dim3, shared: int, name: str
):
    x, y, out = inputs()
    with pytest.raises(LaunchError) as caught:
        gpu.run(launch(kernels.ADD, x, y, out, N, grid=grid, block=block, shared=shared))
    assert (caught.value.cuda_name, caught.value.synchronous, caught.value.sticky) == (name, True, False)
    gpu.run(add(x, y, out))
    assert np.array_equal(out, x + y)


def test_what_we_refuse_the_driver_refuses_too(gpu: GpuBackend, monkeypatch: pytest.MonkeyPatch):
    """With our own check out of the way, the driver must not accept what the tables forbid."""
    monkeypatch.setattr(gpu, "_present", None)
    x = np.zeros(4096, np.float32)
    for grid, block, shared in (
        ((1, 1, 1), (2048, 1, 1), 0),
        ((1, 1, 1), (1, 1, 128), 0),
        ((1, 70000, 1), (1, 1, 1), 0),
        ((1, 1, 1), (1, 1, 1), 228 * 1024),
    ):
        with pytest.raises(LaunchError) as caught:
            gpu.run(launch(kernels.ADD, x, x, x, 1, grid=grid, block=block, shared=shared))
        assert not caught.value.sticky
    with pytest.raises(LaunchError):
        gpu.run(launch(kernels.BOUNDED, x, block=(128, 1, 1)))


def test_launch_bounds(gpu: GpuBackend):
    gpu.run(launch(kernels.BOUNDED, np.zeros(1), block=(64, 1, 1)))
    with pytest.raises(LaunchError, match="at most 64"):
        gpu.run(launch(kernels.BOUNDED, np.zeros(1), block=(128, 1, 1)))


def test_bad_arguments_are_refused(gpu: GpuBackend):
    with pytest.raises(ArgumentError, match="takes 4 arguments"):
        gpu.run(launch(kernels.ADD, np.zeros(1)))
    with pytest.raises(ArgumentError, match="not contiguous"):
        gpu.run(launch(kernels.ADD, *(np.zeros((4, 4), np.float32)[:, 0],) * 3, 4))


# ---------------------------------------------------------------------------------------- errors of kernels
_PROGRAM = """
import numpy as np
from tests.gpu import kernels
from tests.gpu.kernels import compiled
from warpglass.engine.launch.backend import Launch
from warpglass.engine.gpu.backend import GpuBackend
from warpglass.errors import LaunchError, WarpglassError

gpu = GpuBackend()
one = (1, 1, 1)

def attempt(body, *args, **options):
    try:
        gpu.run(Launch(compiled(body), one, one, args, **options))
        print("ok")
    except LaunchError as error:
        print(error.cuda_name, error.synchronous, error.sticky)

def works():
    x, out = np.ones(8, np.float32), np.zeros(8, np.float32)
    gpu.run(Launch(compiled(kernels.ADD), one, (8, 1, 1), (x, x, out, 8)))
    print("sum", out.sum())

"""


def run_alone(program: str) -> list[str]:
    """Run a program after _PROGRAM in a fresh process; its lines of output."""
    result = subprocess.run(
        [sys.executable, "-c", _PROGRAM + textwrap.dedent(program)],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.split("\n")[:-1]


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    ("failing", "name"),
    [
        ("kernels.POKE, 8", "cudaErrorIllegalAddress"),
        ("kernels.SLANT, np.zeros(4, np.int32)", "cudaErrorMisalignedAddress"),
        ("kernels.TRAP, np.zeros(1)", "cudaErrorLaunchFailure"),
    ],
)
def test_faults_are_asynchronous_and_sticky_until_the_process_ends(failing: str, name: str):
    # After these errors the driver (580, CUDA 13.0) refuses every new context of the process, so a reset
    # cannot help either and says so.
    lines = run_alone(f"""
        works()
        attempt({failing})
        attempt({failing})
        try:
            gpu.reset()
        except WarpglassError as error:
            print("reset:", "restart Python" in str(error))
        attempt({failing})
    """)
    again = f"{name} True True"
    assert lines == ["sum 16.0", f"{name} False True", again, "reset: True", again]


@pytest.mark.usefixtures("gpu")
def test_timeout():
    lines = run_alone("""
        import os, sys
        attempt(kernels.SPIN, np.zeros(1, np.uint32), timeout=0.5)
        attempt(kernels.SPIN, np.zeros(1, np.uint32), timeout=0.5)
        try:
            gpu.reset()
        except LaunchError as error:
            print("reset:", "still running" in str(error))
        sys.stdout.flush()
        os._exit(0)  # the kernel never ends, and an orderly exit would wait for it
    """)
    assert lines == [
        "cudaErrorLaunchTimeout False True",
        "cudaErrorLaunchTimeout True True",
        "reset: True",
    ]


def test_variables_are_set_and_read() -> None:
    text = """
    __constant__ float M[2];
    namespace inner { __device__ int count; }
    extern "C" __global__ void k(float *out) { out[0] = M[1]; ++inner::count; }
    """
    kernel, out = wg.compile(text, "k"), np.zeros(1, np.float32)
    for value in (3.0, 4.0):
        kernel.set("M", [0, value])
        wg.run(kernel, 1, 1, (out,), device="gpu")
        assert out[0] == value
    assert kernel.get("count") == 2
    kernel.set("count", 10)
    wg.run(kernel, 1, 1, (out,), device="gpu")
    assert kernel.get("inner::count") == 11
    again = wg.compile(text, "k")
    wg.run(again, 1, 1, (out,), device="gpu")
    assert again.get("count") == 1
    assert out[0] == 0


def test_element_types_are_checked() -> None:
    kernel = wg.compile('extern "C" __global__ void k(const float *x) {}', "k")
    wg.run(kernel, 1, 1, (np.zeros(3, np.float32),), device="gpu")
    with pytest.raises(ArgumentError, match=r"\(x\) got an array of float64"):
        wg.run(kernel, 1, 1, (np.zeros(3),), device="gpu")
