"""What a launch may look like: every alignment, view, block and grid shape, and shared memory size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from warpglass import lab
from warpglass.errors import ArgumentError, KernelFault, LaunchError

SOURCE = r"""
template <typename T> __global__ void scale(T* y, const T* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 2;
}
template <typename T> __global__ void reverse(T* y, const T* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[n - 1 - i] = x[(i * 7) % n];
}
extern "C" __global__ void peek(const int* x, int* out, int at) { out[threadIdx.x] = x[at]; }
extern "C" __global__ void number(int* out) {
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int size = blockDim.x * blockDim.y * blockDim.z;
    out[block * size + thread] = ((int)threadIdx.x << 20) + ((int)threadIdx.y << 10) + (int)threadIdx.z
                               + 3 * ((int)blockIdx.x + 5 * (int)blockIdx.y + 7 * (int)blockIdx.z);
}
extern "C" __global__ void count(unsigned long long* seen, int n) {
    long long block = (blockIdx.z * (long long)gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    if (threadIdx.x == 0) seen[block % n] = block;
}
extern "C" __global__ void rotate(const int* x, int* out, int n) {
    extern __shared__ int room[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) room[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = room[(i + 1) % n];
}
extern "C" __global__ void nothing() {}
"""
pytestmark = pytest.mark.usefixtures("mode")


def run(name: str, grid: Any, block: Any, *args: object, shared: int = 0) -> None:
    lab.run(lab.compile(SOURCE, name), grid, block, args, shared=shared, device="cpu", timeout=60)


# ---------------------------------------------------------------------------------------- alignment
@pytest.mark.parametrize(
    ("name", "dtype"), [("double", "f8"), ("int", "i4"), ("short", "i2"), ("char", "i1")]
)
def test_views_at_every_offset(name: str, dtype: str) -> None:
    x = np.arange(200).astype(dtype)
    for start in range(0, 64 // x.itemsize):
        y = np.zeros(200, dtype)
        for kernel, block in ((f"scale<{name}>", 64), (f"reverse<{name}>", 96)):
            run(kernel, 3, block, y[5:105], x[start : start + 100], 100)
            part = x[start : start + 100]
            expected = part * 2 if "scale" in kernel else part[np.arange(100) * 7 % 100][::-1]
            assert (y[5:105] == expected).all()
            assert not y[:5].any()
            assert not y[105:].any()


@pytest.mark.sampled(quick=8)
@pytest.mark.parametrize("offset", range(64))
def test_buffers_at_every_byte_offset(offset: int) -> None:
    """The host address may be anything that the element type allows; device addresses start aligned."""
    buffer = bytearray(1024)
    raw = np.frombuffer(buffer, np.uint8)
    shift = -raw.__array_interface__["data"][0] % 64
    x = np.frombuffer(buffer, np.int8, 100, shift + offset)
    x[:] = np.arange(100)
    y = np.zeros(100, np.int8)
    run("scale<char>", 4, 32, y, x, 100)
    assert (y == np.arange(100).astype(np.int8) * 2).all()
    wide = np.frombuffer(buffer, np.float64, 20, shift + offset)
    if offset % 8:
        with pytest.raises(ArgumentError, match=r"x.*no multiple of 8; pass x\.copy\(\)"):
            run("scale<double>", 1, 32, np.zeros(20), wide, 20)
    else:
        out = np.zeros(20)
        run("scale<double>", 1, 32, out, wide, 20)
        assert (out == wide * 2).all()


# ---------------------------------------------------------------------------------------- views, emptiness
def test_overlapping_views_are_one_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one block writes through one view a later block reads through the other."""
    monkeypatch.setenv("WARPGLASS_THREADS", "1")
    x = np.arange(1, 101, dtype=np.int32)
    run("scale<int>", 40, 1, x[5:45], x[:40], 40)
    expected = np.arange(1, 101)
    for k in range(40):
        expected[5 + k] = 2 * expected[k]
    assert (x == expected).all()


def test_memory_of_the_owner_around_a_view_is_legal_and_beyond_it_is_not() -> None:
    """As on a GPU, where a pointer into an allocation reaches all of it."""
    x, out = np.arange(100, dtype=np.int32), np.zeros(32, np.int32)
    for at in (-40, 20, 59):
        run("peek", 1, 32, x[40:60], out, at)
        assert (out == 40 + at).all()
    for at in (-41, 60):
        with pytest.raises(KernelFault, match=rf"x\[{at}\], but x has 20 elements and is a view of memory"):
            run("peek", 1, 32, x[40:60], out, at)
        lab.reset("cpu")
    with pytest.raises(KernelFault, match=r"ends before x\[60\]"):
        run("peek", 1, 32, x[40:60], out, 60)


def test_empty_arrays() -> None:
    empty, y = np.zeros(0, np.int32), np.full(32, 3, np.int32)
    run("scale<int>", 1, 32, empty, empty, 0)
    run("scale<int>", 1, 32, y, empty, 0)
    assert (y == 3).all()
    with pytest.raises(KernelFault, match=r"x\[0\], but x has 0 elements"):
        run("peek", 1, 32, empty, y, 0)
    lab.reset("cpu")
    with pytest.raises(KernelFault, match=r"y\[0\], but y has 0 elements"):
        run("scale<int>", 1, 32, empty, y, 1)


def test_a_kernel_without_arguments() -> None:
    run("nothing", 5, 77)


# ---------------------------------------------------------------------------------------- shapes
def numbered(grid: tuple[int, ...], block: tuple[int, ...]) -> np.ndarray:
    gx, gy, gz = (*grid, 1, 1)[:3]
    x, y, z = (*block, 1, 1)[:3]
    tz, ty, tx = np.mgrid[0:z, 0:y, 0:x]
    bz, by, bx = np.mgrid[0:gz, 0:gy, 0:gx]
    threads = (tx << 20) + (ty << 10) + tz
    blocks = 3 * (bx + 5 * by + 7 * bz)
    return (blocks.reshape(-1, 1) + threads.reshape(1, -1)).astype(np.int32).reshape(-1)


@pytest.mark.sampled(quick=6)
@pytest.mark.parametrize(
    "size", [1, 2, 3, 31, 32, 33, 63, 64, 65, 96, 100, 127, 255, 500, 992, 1000, 1023, 1024]
)
def test_block_sizes(size: int) -> None:
    out = np.zeros(3 * size, np.int32)
    run("number", 3, size, out)
    assert (out == numbered((3,), (size,))).all()


@pytest.mark.sampled(quick=6)
@pytest.mark.parametrize(
    "block", [(8, 8, 8), (1, 32), (32, 1, 2), (5, 3, 4), (1, 1, 64), (1, 1024), (33, 3), (16, 16), (2, 2, 2)]
)
@pytest.mark.parametrize("grid", [(1,), (2, 3, 4), (1, 7), (1, 1, 5)])
def test_three_dimensions(grid: tuple[int, ...], block: tuple[int, ...]) -> None:
    expected = numbered(grid, block)
    out = np.zeros(expected.size, np.int32)
    run("number", grid, block, out)
    assert (out == expected).all()


@pytest.mark.parametrize("grid", [2**20, (1, 65535), (1, 1, 65535), (3, 65535, 2), (2**16, 8)])
def test_large_grids(grid: Any) -> None:
    seen = np.zeros(1000, np.uint64)
    run("count", grid, 1, seen, 1000)
    blocks = int(np.prod(grid))
    last = np.arange(blocks - 1000, blocks)
    expected = np.zeros(1000, np.uint64)
    expected[last % 1000] = last
    assert sorted(seen // 1000)[0] > 0  # every slot was written, late
    if lab.backend("cpu").description.endswith(" 1 thread (CPU; no GPU is involved)"):
        assert (seen == expected).all()
    else:
        assert (seen % 1000 == np.arange(1000)).all()


@pytest.mark.parametrize("n", [0, 1, 31, 33, 1000003])
def test_awkward_sizes(n: int) -> None:
    x, y = np.arange(n, dtype=np.float64), np.zeros(n)
    run("scale<double>", (n + 255) // 256 or 1, 256, y, x, n)
    assert (y == x * 2).all()


# ---------------------------------------------------------------------------------------- shared memory
def test_dynamic_shared_memory_up_to_the_limit() -> None:
    most = 227 * 1024  # H100: opt-in maximum per block
    for size in (4, 128, 48 * 1024, 48 * 1024 + 4, most):
        n = size // 4
        x, out = np.arange(n, dtype=np.int32), np.zeros(n, np.int32)
        run("rotate", 1, 256, x, out, n, shared=size)
        assert (out == np.roll(x, -1)).all()
    with pytest.raises(LaunchError, match=str(most)) as caught:
        run("rotate", 1, 256, x, out, n, shared=most + 1)
    assert (caught.value.cuda_name, caught.value.sticky) == ("cudaErrorInvalidValue", False)
    run("rotate", 1, 256, x, out, 4, shared=16)
