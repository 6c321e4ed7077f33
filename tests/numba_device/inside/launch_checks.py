"""Launches that the virtual device refuses as a GPU does. Run under `warpglass run -m pytest`."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from tests.numba_device.inside.driver_checks import RESULT, ask, context, driver, status_of  # noqa: F401
from warpglass import lab

SOURCE = """
extern "C" __global__ void sums(double *x, int n) {
    double a[48];
    #pragma unroll
    for (int i = 0; i < 48; i++) a[i] = x[i * blockDim.x + threadIdx.x];
    for (int k = 0; k < n; k++)
        #pragma unroll
        for (int i = 0; i < 48; i++) a[i] = a[i] * a[(i + 7) % 48] + a[(i + 1) % 48];
    #pragma unroll
    for (int i = 0; i < 48; i++) x[i * blockDim.x + threadIdx.x] = a[i];
}
extern "C" __global__ void shared(int *x) {
    __shared__ int s[2048];
    extern __shared__ int d[];
    s[threadIdx.x] = x[threadIdx.x];
    d[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = s[31 - threadIdx.x] + d[threadIdx.x];
}
extern "C" __global__ void clusters(unsigned *x) {
    unsigned id;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(id));
    x[blockIdx.x] = id;
}
"""
ATTRIBUTE = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
NO_PARAMETERS = ((0, 0), (ctypes.c_uint64, ctypes.c_uint32))


@pytest.fixture
def kernels() -> Any:
    module = ask(driver.cuModuleLoadData, lab.compile(SOURCE, "sums").compile().ptx.encode() + b"\0")
    return lambda name: ask(driver.cuModuleGetFunction, module, name.encode())


def _status(kernel: Any, blocks: int, threads: int, shared: int = 0, values: Any = NO_PARAMETERS) -> Any:
    return status_of(driver.cuLaunchKernel, kernel, blocks, 1, 1, threads, 1, 1, shared, 0, values, 0)


def test_registers_of_a_block(kernels: Any) -> None:
    place = ask(driver.cuMemAlloc, 8 * 48 * 256)
    values = ((int(place), 0), (ctypes.c_uint64, ctypes.c_int32))
    assert _status(kernels("sums"), 1, 512, 0, values) == RESULT.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    assert _status(kernels("sums"), 1, 256, 0, values) == RESULT.CUDA_SUCCESS


def test_dynamic_shared_memory_is_opted_into(kernels: Any) -> None:
    kernel, place = kernels("shared"), ask(driver.cuMemAlloc, 4 * 32)
    values = ((int(place),), (ctypes.c_uint64,))
    assert _status(kernel, 1, 32, 40 * 1024, values) == RESULT.CUDA_SUCCESS
    assert _status(kernel, 1, 32, 40 * 1024 + 4, values) == RESULT.CUDA_ERROR_INVALID_VALUE
    most = 232_448 - 8192
    assert (
        status_of(driver.cuFuncSetAttribute, kernel, ATTRIBUTE, most + 4) == RESULT.CUDA_ERROR_INVALID_VALUE
    )
    ask(driver.cuFuncSetAttribute, kernel, ATTRIBUTE, most)
    assert _status(kernel, 1, 32, most, values) == RESULT.CUDA_SUCCESS


def test_a_cooperative_grid_that_does_not_fit(kernels: Any) -> None:
    """Registers leave room for one block of 256 threads on each of 132 multiprocessors, threads for eight."""
    place = ask(driver.cuMemAlloc, 8 * 48 * 256)
    values = ((int(place), 0), (ctypes.c_uint64, ctypes.c_int32))
    too_large = RESULT.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
    for blocks, status in ((132, RESULT.CUDA_SUCCESS), (133, too_large)):
        configuration = kernels("sums"), blocks, 1, 1, 256, 1, 1, 0, 0, values
        assert status_of(driver.cuLaunchCooperativeKernel, *configuration) == status
        given = _attribute("COOPERATIVE")
        given.value.cooperative = 1
        assert _launch_with(kernels("sums"), blocks, 256, values, given) == status


def _attribute(name: str) -> Any:
    given = driver.CUlaunchAttribute()
    given.id = getattr(driver.CUlaunchAttributeID, f"CU_LAUNCH_ATTRIBUTE_{name}")
    return given


def _launch_with(kernel: Any, blocks: int, threads: int, values: Any, attribute: Any) -> Any:
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = blocks, 1, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = threads, 1, 1
    config.attrs, config.numAttrs = [attribute], 1
    return status_of(driver.cuLaunchKernelEx, config, kernel, values, 0)


@pytest.mark.parametrize(
    ("blocks", "cluster", "status"),
    [
        (4, 1, "SUCCESS"),
        (4, 2, "SUCCESS"),
        (8, 8, "SUCCESS"),
        (5, 2, "ERROR_INVALID_CLUSTER_SIZE"),
        (32, 16, "ERROR_INVALID_CLUSTER_SIZE"),
    ],
)
def test_clusters(kernels: Any, blocks: int, cluster: int, status: str) -> None:
    place = ask(driver.cuMemAlloc, 4 * blocks)
    given = _attribute("CLUSTER_DIMENSION")
    given.value.clusterDim.x, given.value.clusterDim.y, given.value.clusterDim.z = cluster, 1, 1
    values = ((int(place),), (ctypes.c_uint64,))
    assert _launch_with(kernels("clusters"), blocks, 1, values, given) == getattr(RESULT, f"CUDA_{status}")
    if status == "SUCCESS":
        found = np.zeros(blocks, np.uint32)
        ask(driver.cuMemcpyDtoH, found, place, found.nbytes)
        assert found.tolist() == [block // cluster for block in range(blocks)]
