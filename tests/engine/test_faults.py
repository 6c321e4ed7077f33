"""Illegal accesses and traps: where each stops the launch, what it says, and what it leaves alone.

Every kernel is a line or two, so its name says which lines may be guilty.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warpglass import lab
from warpglass.codegen.context import GLOBAL_BASE
from warpglass.errors import ArgumentError, FaultPlace, KernelFault, LaunchError

SOURCE = r"""
typedef long long Int;
extern "C" {
__global__ void read_uniform(const float* x, float* out, Int at) { out[threadIdx.x] = x[at]; }
__global__ void read_affine(const float* x, float* out, Int at) { out[threadIdx.x] = x[threadIdx.x + at]; }
__global__ void read_strided(const float* x, float* out, Int at) {
    out[threadIdx.x] = x[2 * threadIdx.x + at - 31]; }
__global__ void read_reversed(const float* x, float* out, Int at) {
    out[threadIdx.x] = x[at - threadIdx.x + 31]; }
__global__ void read_pairs(const double* x, double* out, Int at) {
    double2 v = ((const double2*)x)[threadIdx.x + at]; out[threadIdx.x] = v.x + v.y; }
__global__ void read_fours(const float* x, float* out, Int at) {
    float4 v = ((const float4*)x)[threadIdx.x + at]; out[threadIdx.x] = v.x + v.y + v.z + v.w; }
__global__ void read_gathered(const float* x, float* out, const int* at) {
    out[threadIdx.x] = x[at[threadIdx.x]]; }
__global__ void read_fours_gathered(const float4* x, float* out, const int* at) {
    float4 v = x[at[threadIdx.x]]; out[threadIdx.x] = v.x + v.y + v.z + v.w; }
__global__ void write_uniform(float* x, Int at) { x[at] = 1.f; }
__global__ void write_affine(float* x, Int at) { x[threadIdx.x + at] = 1.f; }
__global__ void write_strided(float* x, Int at) { x[2 * threadIdx.x + at - 31] = 1.f; }
__global__ void write_fours(float4* x, Int at) { x[threadIdx.x + at] = make_float4(1, 2, 3, 4); }
__global__ void write_scattered(float* x, const int* at) { x[at[threadIdx.x]] = 1.f; }
__global__ void write_one_lane(float* x, Int at) { if (threadIdx.x == 13) x[threadIdx.x - 13 + at] = 1.f; }
__global__ void read_bytes(const char* x, float* out, Int at) {
    out[threadIdx.x] = *(const float*)(x + 4 * threadIdx.x + (Int)blockIdx.x * at); }
__global__ void write_bytes(char* x, Int at) { *(float*)(x + 4 * threadIdx.x + (Int)blockIdx.x * at) = 1.f; }
__global__ void in_static(float* out, int at) {
    __shared__ float tile[32]; tile[threadIdx.x + at] = 1.f; __syncthreads(); out[threadIdx.x] = tile[0]; }
__global__ void in_dynamic(float* out, int at) {
    extern __shared__ float room[]; room[threadIdx.x + at] = 1.f; __syncthreads();
    out[threadIdx.x] = room[0]; }
__global__ void in_shared_gathered(float* out, const int* at) {
    __shared__ float tile[32]; tile[threadIdx.x] = 1.f; __syncthreads();
    out[threadIdx.x] = tile[at[threadIdx.x]]; }
__global__ void trap(int* x) {
    if (blockIdx.x == 2 && threadIdx.x == 5) __trap(); x[blockIdx.x * 32 + threadIdx.x] = 1; }
__global__ void copy(int* to, const int* from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) to[i] = from[i]; }
__global__ void every_block(int* x, int n) { if (blockIdx.x >= 100) x[n + blockIdx.x] = 1; }
__global__ void by_position(int* x, dim3 block, dim3 thread, int n) {
    bool here = blockIdx.x == block.x && blockIdx.y == block.y && blockIdx.z == block.z &&
                threadIdx.x == thread.x && threadIdx.y == thread.y && threadIdx.z == thread.z;
    if (here) x[n] = 1; }
}
"""
N = 64
cuda: Any = pytest.importorskip("numba_cuda_mlir.cuda")  # installed wherever CUDA C++ compiles, too


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("faults") / "faults.cu"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def fault(source: Path, mode: str) -> Any:
    """Launch a kernel on the engine and return the fault that it must end with."""

    def launch(name: str, *args: object, grid: Any = 1, block: Any = 32, shared: int = 0) -> KernelFault:
        kernel = lab.load(source, name)
        with pytest.raises(KernelFault) as caught:
            lab.run(kernel, grid, block, args, shared=shared, device="cpu", timeout=20)
        _check_words(caught.value, source, name)
        return caught.value

    return launch


def _check_words(error: KernelFault, source: Path, name: str) -> None:
    """What holds for every fault: CUDA's view of it, the source line, and a message that says it all."""
    place, text = error.place, str(error)
    assert error.sticky
    assert not error.synchronous
    assert place.file == str(source)
    lines = SOURCE.split("\n")
    first = next(k for k, line in enumerate(lines) if f" {name}(" in line)
    last = next(k for k in range(first, len(lines)) if lines[k].endswith("}"))
    assert place.line is not None
    assert first < place.line <= last + 1
    assert text.startswith(f"{place.file}:{place.line}: {name}: ")
    assert f"by block {place.block} thread {place.thread}" in text
    assert error.cuda_name in text


def run(source: Path, name: str, *args: object, grid: Any = 1, block: Any = 32, shared: int = 0) -> None:
    lab.run(lab.load(source, name), grid, block, args, shared=shared, device="cpu", timeout=20)


# ---------------------------------------------------------------------------------------- bounds
# Kernel, the last legal `at` and the first, the thread that goes wrong one past the end and before the start.
RANGES = [
    ("read_uniform", N - 1, 0, 0, 0),
    ("read_affine", N - 32, 0, 31, 0),
    ("read_strided", N - 32, 31, 31, 0),
    ("read_reversed", N - 32, 0, 0, 31),
    ("write_uniform", N - 1, 0, 0, 0),
    ("write_affine", N - 32, 0, 31, 0),
    ("write_strided", N - 32, 31, 31, 0),
    ("write_one_lane", N - 1, 0, 13, 13),
]


def arguments(name: str, x: np.ndarray, at: object) -> tuple[object, ...]:
    return (x, np.zeros(32, x.dtype), at) if name.startswith("read") else (x, at)


@pytest.mark.parametrize(("name", "last", "first", "thread_after", "thread_before"), RANGES)
def test_one_element_past_either_end(
    source: Path, fault: Any, name: str, last: int, first: int, thread_after: int, thread_before: int
) -> None:
    x = np.zeros(N, np.float32)
    for at in (last, first):
        run(source, name, *arguments(name, x, at))
    for at, index, thread in ((last + 1, N, thread_after), (first - 1, -1, thread_before)):
        error = fault(name, *arguments(name, x, at))
        lab.reset("cpu")
        place = error.place
        assert (place.kind, error.cuda_name) == ("out-of-bounds", "cudaErrorIllegalAddress")
        assert (place.array, place.index, place.size) == ("x", index, 4)
        assert (place.block, place.thread) == ((0, 0, 0), (thread, 0, 0))
        assert f"4-byte {name.split('_')[0]}" in str(error)
        assert f"x[{index}], but x has 64 elements" in str(error)


@pytest.mark.parametrize(
    ("name", "dtype", "count"), [("read_pairs", "f8", 2), ("read_fours", "f4", 4), ("write_fours", "f4", 4)]
)
def test_vectors_past_either_end(source: Path, fault: Any, name: str, dtype: str, count: int) -> None:
    for extra in range(count):  # a last vector that is partly inside is as wrong as one outside
        x = np.zeros(32 * count + extra, dtype)
        run(source, name, *arguments(name, x, 0))
        for at, index, thread in ((1, 32 * count, 31), (-1, -count, 0)):
            error = fault(name, *arguments(name, x, at))
            lab.reset("cpu")
            assert (error.place.array, error.place.index, error.place.size) == ("x", index, 16)
            assert error.place.thread == (thread, 0, 0)
            assert f"x[{index}..{index + count - 1}]" in str(error)


@pytest.mark.sampled(quick=8)
@pytest.mark.parametrize("lane", [0, 1, 15, 16, 30, 31])
@pytest.mark.parametrize("bad", [N, -1, 10**6, -(10**6)])
@pytest.mark.parametrize("name", ["read_gathered", "write_scattered"])
def test_one_lane_of_a_gather(fault: Any, name: str, bad: int, lane: int) -> None:
    at = np.arange(32, dtype=np.int32)[::-1].copy()
    at[lane] = bad
    error = fault(name, *arguments(name, np.zeros(N, np.float32), at))
    assert (error.place.array, error.place.index, error.place.thread) == ("x", bad, (lane, 0, 0))


def test_one_lane_of_a_vector_gather(fault: Any) -> None:
    at = np.zeros(32, np.int32)
    at[20] = 8
    error = fault("read_fours_gathered", np.zeros(32, np.float32), np.zeros(32, np.float32), at)
    assert (error.place.array, error.place.index, error.place.thread) == ("x", 32, (20, 0, 0))


@pytest.mark.parametrize("at", [10**6, -(10**6), 2**31 - 1, -(2**31), 2**32 - 1])
def test_a_wild_index_is_laid_at_the_right_array(fault: Any, at: int) -> None:
    x, out = np.zeros(N, np.float32), np.zeros(32, np.float32)
    error = fault("read_affine", x, out, at)
    assert (error.place.array, error.place.index) == ("x", at)


@pytest.mark.parametrize("at", [2**40, -(2**40), 2**61 + 5, -(2**61), 2**62 - 2**40])
def test_an_address_that_belongs_to_nothing(fault: Any, at: int) -> None:
    for name in ("read_uniform", "read_affine"):
        error = fault(name, np.zeros(N, np.float32), np.zeros(32, np.float32), at)
        assert (error.place.kind, error.place.array) == ("out-of-bounds", None)
        assert f"{error.place.address:#x}, far from every array" in str(error)
        lab.reset("cpu")


def test_other_arrays_and_earlier_elements_are_untouched(fault: Any) -> None:
    before, x, after = (np.full(N, 7, np.float32) for _ in range(3))
    guard = x.copy()
    fault("write_affine", x, N)
    assert (x == guard).all()
    lab.reset("cpu")
    at = np.arange(32, dtype=np.int32)
    at[9] = N + 3
    fault("write_scattered", x, at)
    assert (before == 7).all()
    assert (after == 7).all()
    assert (x[10:] == 7).all()  # lanes after the faulting one did not write


@pytest.mark.sampled(quick=5)
@pytest.mark.parametrize("at", [-1, -2, -3, -4, -5, -31, -128])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_just_below_an_array_once_its_range_is_known(
    fault: Any, monkeypatch: pytest.MonkeyPatch, at: int, threads: str
) -> None:
    """Block 0 is legal; block 1 starts `at` bytes before the array, misaligned or not."""
    monkeypatch.setenv("WARPGLASS_THREADS", threads)
    x, out = np.zeros(256, np.int8), np.zeros(32, np.float32)
    for name, args in (("read_bytes", (x, out, at)), ("write_bytes", (x, at))):
        error = fault(name, *args, grid=8)
        lab.reset("cpu")
        assert (error.place.array, error.place.block, error.place.thread) == ("x", (1, 0, 0), (0, 0, 0))
        assert (error.place.kind, error.place.index) == ("out-of-bounds", at)
        assert not x[128:].any()


# ---------------------------------------------------------------------------------------- alignment
@pytest.mark.parametrize("at", [1, 2, 3, 5])
def test_misaligned(fault: Any, at: int) -> None:
    x, out = np.zeros(256, np.int8), np.zeros(32, np.float32)
    for name, args in (("read_bytes", (x, out, at)), ("write_bytes", (x, at))):
        error = fault(name, *args, grid=2)
        lab.reset("cpu")
        assert (error.place.kind, error.cuda_name) == ("misaligned", "cudaErrorMisalignedAddress")
        assert (error.place.array, error.place.index, error.place.block) == ("x", at, (1, 0, 0))
        assert f"at byte {at} of x, whose address is no multiple of 4" in str(error)


def test_a_view_that_is_misaligned_for_vectors(fault: Any) -> None:
    x = np.zeros(256, np.float32)
    error = fault("read_fours", x[1:], np.zeros(32, np.float32), 0)
    assert error.place.kind == "misaligned"
    assert "x itself starts 4 bytes past one; pass x.copy()" in str(error)


# ---------------------------------------------------------------------------------------- read-only
def test_read_only_arrays(source: Path, fault: Any) -> None:
    x = np.arange(N, dtype=np.float32)
    x.flags.writeable = False
    at = np.arange(32, dtype=np.int32)
    for name, args in (("write_uniform", (x, 3)), ("write_affine", (x, 3)), ("write_scattered", (x, at + 3))):
        error = fault(name, *args)
        lab.reset("cpu")
        assert (error.place.kind, error.cuda_name) == ("read-only-write", "cudaErrorIllegalAddress")
        assert (error.place.array, error.place.index) == ("x", 3)
        assert "4-byte write to x[3], but x is read-only" in str(error)
    assert (x == np.arange(N)).all()
    out = np.zeros(32, np.float32)
    run(source, "read_affine", x, out, 3)
    assert (out == x[3:35]).all()


def test_read_only_memory_map(fault: Any, tmp_path: Path) -> None:
    """Writing would be a segmentation fault of the process if it were not caught."""
    np.save(tmp_path / "x.npy", np.arange(N, dtype=np.float32))
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert fault("write_affine", x, 0).place.kind == "read-only-write"
    assert (np.load(tmp_path / "x.npy") == np.arange(N)).all()


def test_a_writable_view_of_the_same_memory_allows_writing(source: Path, mode: str) -> None:
    x = np.zeros(N, np.int32)
    closed = x.view()
    closed.flags.writeable = False
    run(source, "copy", x[:32], closed[32:], 32)  # one allocation, writable through x
    assert not x.any()


# ---------------------------------------------------------------------------------------- null pointers
@pytest.mark.parametrize("at", [0, 1, -1, 1000])
def test_null_pointers_name_their_argument(fault: Any, at: int) -> None:
    error = fault("read_affine", None, np.zeros(32, np.float32), at)
    assert (error.place.kind, error.cuda_name) == ("out-of-bounds", "cudaErrorIllegalAddress")
    assert "through a null pointer: x is None" in str(error)
    lab.reset("cpu")
    assert "through a null pointer: x is None" in str(fault("write_affine", None, at))


def test_a_low_address_is_no_null_pointer(fault: Any) -> None:
    at = (0x200000 - GLOBAL_BASE) // 4
    error = fault("read_uniform", np.zeros(N, np.float32), np.zeros(32, np.float32), at)
    assert "at address 0x200000, far from every array: the nearest is x, " in str(error)
    assert f"{GLOBAL_BASE - 0x200000:#x} bytes before the start of it" in str(error)


# ---------------------------------------------------------------------------------------- shared memory
def test_static_shared_memory(source: Path, fault: Any) -> None:
    out = np.zeros(32, np.float32)
    run(source, "in_static", out, 0)
    for at, index, thread in ((1, 32, 31), (-1, -1, 0), (10**6, 10**6, 0)):
        error = fault("in_static", out, at)
        lab.reset("cpu")
        assert (error.place.array, error.place.index, error.place.thread) == ("tile", index, (thread, 0, 0))
        assert f"byte {4 * index} of tile in shared memory, but the block has 128 bytes" in str(error)


def test_dynamic_shared_memory(source: Path, fault: Any) -> None:
    out = np.zeros(32, np.float32)
    run(source, "in_dynamic", out, 0, shared=128)
    run(source, "in_dynamic", out, 1, shared=132)
    for at, size, index, thread in ((1, 128, 32, 31), (-1, 128, -1, 0), (0, 124, 31, 31), (0, 0, 0, 0)):
        error = fault("in_dynamic", out, at, shared=size)
        lab.reset("cpu")
        assert (error.place.array, error.place.index, error.place.thread) == ("room", index, (thread, 0, 0))
        given = f"the launch gave {f'{size} bytes of' if size else 'no'} dynamic shared memory"
        assert ("the block has 128 bytes" if at < 0 else given) in str(error)


def test_shared_memory_by_one_lane(fault: Any) -> None:
    at = np.zeros(32, np.int32)
    at[17] = 32
    error = fault("in_shared_gathered", np.zeros(32, np.float32), at)
    assert (error.place.array, error.place.index, error.place.thread) == ("tile", 32, (17, 0, 0))


# ---------------------------------------------------------------------------------------- traps, places
def test_trap(fault: Any) -> None:
    error = fault("trap", np.zeros(256, np.int32), grid=8)
    assert (error.place.kind, error.cuda_name) == ("trap", "cudaErrorLaunchFailure")
    assert (error.place.block, error.place.thread) == ((2, 0, 0), (5, 0, 0))
    assert error.place.array is None


@pytest.mark.parametrize(
    ("block", "thread"), [((0, 0, 0), (0, 0, 0)), ((2, 1, 3), (4, 2, 1)), ((3, 2, 3), (4, 2, 3))]
)
def test_places_in_three_dimensions(fault: Any, block: tuple[int, ...], thread: tuple[int, ...]) -> None:
    places = [np.array(p, np.uint32).tobytes() for p in (block, thread)]
    error = fault("by_position", np.zeros(5, np.int32), *places, 5, grid=(4, 3, 4), block=(5, 3, 4))
    assert (error.place.block, error.place.thread) == (block, thread)


@pytest.mark.parametrize("threads", ["1", "2", "3"])
def test_the_first_of_many_faulting_blocks_is_reported(
    fault: Any, monkeypatch: pytest.MonkeyPatch, threads: str
) -> None:
    monkeypatch.setenv("WARPGLASS_THREADS", threads)
    for _ in range(5):
        assert fault("every_block", np.zeros(8, np.int32), 8, grid=5000).place.block == (100, 0, 0)
        lab.reset("cpu")


# ---------------------------------------------------------------------------------------- the device after
def test_a_fault_breaks_the_device_until_it_is_reset(source: Path, fault: Any) -> None:
    x, y = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)
    first = fault("write_affine", np.zeros(8, np.float32), 0)
    for _ in range(2):
        with pytest.raises(LaunchError, match="refuses") as refused:
            run(source, "copy", y, x, N, grid=2)
        assert (refused.value.cuda_name, refused.value.sticky) == (first.cuda_name, True)
        assert str(first) in str(refused.value)
    assert not y.any()
    lab.reset("cpu")
    run(source, "copy", y, x, N, grid=2)
    assert (x == y).all()


def test_refused_launches_leave_the_device_usable(source: Path, mode: str) -> None:
    x, y = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)
    copy = lab.load(source, "copy")
    for grid, block, args, kind in (
        (1, 1025, (y, x, N), LaunchError),
        ((1, 65536), 32, (y, x, N), LaunchError),
        (0, 32, (y, x, N), LaunchError),
        (1, 32, (y, x), ArgumentError),
        (1, 32, (y, x, 1.5), ArgumentError),
        (1, 32, (y, x[::2], N), ArgumentError),
    ):
        with pytest.raises(kind) as refused:
            lab.run(copy, grid, block, args, device="cpu")
        assert not getattr(refused.value, "sticky", False)
        assert getattr(refused.value, "synchronous", True)
    run(source, "copy", y, x, N, grid=2)
    assert (x == y).all()


def test_the_place_is_data(fault: Any) -> None:
    place = fault("write_affine", np.zeros(40, np.float32), 9).place
    assert isinstance(place, FaultPlace)
    assert (place.array, place.index, place.size, place.thread) == ("x", 40, 4, (31, 0, 0))


# ---------------------------------------------------------------------------------------- inlined code
INLINED = """#include <mma.h>
using namespace nvcuda::wmma;
__device__ float own(const float* x, int at) {
    return x[at];
}
__global__ void by_header(const half* a, float* out, int at) {
    fragment<matrix_a, 16, 16, 16, half, row_major> tile;
    fragment<matrix_b, 16, 16, 16, half, row_major> one;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.f); fill_fragment(one, 1.f);
    load_matrix_sync(tile, a + at, 16);
    mma_sync(sum, tile, one, sum);
    store_matrix_sync(out, sum, 16, mem_row_major);
}
__global__ void by_own_function(const float* a, float* out, int at) {
    out[threadIdx.x] = own(a, threadIdx.x + at);
}
"""


def test_a_fault_in_a_header_names_the_author_s_line(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "inlined.cu"
    path.write_text(INLINED)
    a, out = np.ones(256, np.float16), np.zeros(256, np.float32)
    lab.run(lab.load(path, "by_header"), 1, 32, [a, out, 0], device="cpu")
    with pytest.raises(KernelFault, match=r"\(inlined from [^ ]*mma\.hpp:\d+\), by block") as caught:
        lab.run(lab.load(path, "by_header"), 1, 32, [a, out, 16], device="cpu")
    lab.reset("cpu")
    line = INLINED.split("\n").index("    load_matrix_sync(tile, a + at, 16);") + 1
    assert (caught.value.place.file, caught.value.place.line) == (str(path), line)
    assert str(caught.value).startswith(f"{path}:{line}: by_header: ")


def test_a_fault_in_the_author_s_own_function_names_its_line(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "inlined.cu"
    path.write_text(INLINED)
    with pytest.raises(KernelFault) as caught:
        lab.run(
            lab.load(path, "by_own_function"), 1, 32, [np.ones(32, "f4"), np.ones(32, "f4"), 1], device="cpu"
        )
    lab.reset("cpu")
    assert caught.value.place.line == INLINED.split("\n").index("    return x[at];") + 1
    assert "inlined from" not in str(caught.value)


# ---------------------------------------------------------------------------------------- Python kernels
def add(y: Any, x: Any, at: int) -> None:
    i = cuda.threadIdx.x
    y[i] = x[i + at]


def mark(y: Any, row: int) -> None:
    y[cuda.threadIdx.x + row, cuda.threadIdx.y] = 1


def tile(y: Any, at: int) -> None:
    room = cuda.shared.array(16, np.float32)
    room[cuda.threadIdx.x + at] = 1
    cuda.syncthreads()
    y[cuda.threadIdx.x] = room[0]


def python_fault(function: Any, grid: Any, block: Any, args: tuple[object, ...]) -> KernelFault:
    with pytest.raises(KernelFault) as caught:
        lab.run(lab.from_numba(function), grid, block, args, device="cpu", timeout=20)
    place = caught.value.place
    first = function.__code__.co_firstlineno
    assert place.file == __file__
    assert place.line is not None
    assert first < place.line <= first + 3
    lab.reset("cpu")
    return caught.value


@pytest.mark.parametrize("cut", [slice(None), slice(None, None, 2), slice(None, None, -1), slice(10, 40)])
def test_python_kernels_and_strided_arrays(mode: str, cut: slice) -> None:
    x = np.arange(64, dtype=np.float32)[cut]
    whole = x if x.base is None else x.base
    y = np.zeros(64, np.float32)
    n = 64 // abs(cut.step or 1) - (cut.start or 0)  # elements from x[0] to the end of the owner's memory
    assert whole.size == 64
    for at, index, thread in ((n - 31, n, 31), (n, n, 0)):
        error = python_fault(add, 1, 32, (y, x, at))
        assert (error.place.array, error.place.index) == ("x", index)
        assert error.place.thread == (thread, 0, 0)
        assert f"x[{index}], but x has {x.size} elements" in str(error)


def test_python_kernels_and_matrices(mode: str) -> None:
    error = python_fault(mark, 1, (4, 5), (np.zeros((4, 5)), 1))
    assert (error.place.array, error.place.index, error.place.thread) == ("y", 20, (3, 0, 0))
    assert "y[4, 0], but y has shape (4, 5)" in str(error)
    closed = np.zeros((8, 8))
    closed.flags.writeable = False
    error = python_fault(mark, 1, (4, 5), (closed, 1))
    assert (error.place.kind, error.place.index) == ("read-only-write", 8)
    assert "y[1, 0], but y is read-only" in str(error)


def test_python_kernels_and_shared_memory(mode: str) -> None:
    error = python_fault(tile, 1, 16, (np.zeros(16, np.float32), 1))
    assert (error.place.array, error.place.index) == ("room", 16)
    assert "at byte 64 of room in shared memory, but the block has 64 bytes" in str(error)
