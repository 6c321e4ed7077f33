"""Matrix products of CUDA C++: nvcuda::wmma of mma.h, and inline ldmatrix and mma, against NumPy.

Small integers make every sum exact, whatever its order.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.engines import ENGINES, run_ptx
from warpglass import lab
from warpglass.errors import LaunchError

_HEAD = "#include <mma.h>\n#include <cuda_bf16.h>\nusing namespace nvcuda::wmma;\n"
RNG = np.random.default_rng(11)


def run(source: str, grid: Any, block: int, args: list[Any], engine: str, target: str = "sm_90") -> None:
    """The kernel `k` of CUDA C++."""
    compiled = lab.compile(_HEAD + source, "k", target=target).compile()
    run_ptx(compiled.ptx, grid, block, args, engine=engine, name=compiled.entry)


def integers(shape: tuple[int, ...], dtype: str, low: int = -4, high: int = 5) -> np.ndarray:
    found = RNG.integers(low, high, shape)
    if dtype == "bf16":
        return (found.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return found.astype(dtype)


def numbers(stored: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "bf16":
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return stored.astype(np.float64)


def padded(matrix: np.ndarray, layout: str, leading: int) -> np.ndarray:
    """As a kernel reads it: rows or columns `leading` elements apart."""
    lines = matrix if layout == "row" else matrix.T
    whole = np.zeros((len(lines), leading), matrix.dtype)
    whole[:, : lines.shape[1]] = lines
    return whole


# ---------------------------------------------------------------------------------------- fragments
_ONE = """
using T = {ctype}; using E = {element}; using S = {sums}; using R = {results};
extern "C" __global__
void k(const T *a, const T *b, const S *c, R *d, unsigned la, unsigned lb, unsigned lc) {{
    fragment<matrix_a, {m}, {n}, {k}, E, {alayout}_major> fa;
    fragment<matrix_b, {m}, {n}, {k}, E, {blayout}_major> fb;
    fragment<accumulator, {m}, {n}, {k}, S> fc;
    fragment<accumulator, {m}, {n}, {k}, R> fd;
    load_matrix_sync(fa, a, la);
    load_matrix_sync(fb, b, lb);
    load_matrix_sync(fc, c, lc, mem_{clayout}_major);
    mma_sync(fd, fa, fb, fc);
    store_matrix_sync(d, fd, lc, mem_{clayout}_major);
}}
"""
_CTYPES = {"f2": "__half", "f4": "float", "f8": "double", "i1": "signed char", "u1": "unsigned char"}
_CTYPES |= {"i4": "int", "bf16": "__nv_bfloat16", "tf32": "float"}
_LARGE = ("m16n16k16", "m32n8k16", "m8n32k16")
_FORMS = [
    *((shape, "f2", sums, results) for shape in _LARGE for sums in ("f2", "f4") for results in ("f2", "f4")),
    *((shape, "bf16", "f4", "f4") for shape in _LARGE),
    *((shape, type_, "i4", "i4") for shape in _LARGE for type_ in ("i1", "u1")),
    ("m16n16k8", "tf32", "f4", "f4"),
    ("m8n8k4", "f8", "f8", "f8"),
]


@pytest.mark.sampled(quick=15, ci=7)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("layouts", ["row col row", "col row col"])
@pytest.mark.parametrize(("shape", "type_", "sums", "results"), _FORMS)
def test_fragments(shape: str, type_: str, sums: str, results: str, layouts: str, engine: str):
    m, n, k = map(int, re.findall(r"\d+", shape))
    alayout, blayout, clayout = layouts.split()
    source = _ONE.format(
        ctype=_CTYPES[type_],
        element="precision::tf32" if type_ == "tf32" else _CTYPES[type_],
        sums=_CTYPES[sums],
        results=_CTYPES[results],
        m=m,
        n=n,
        k=k,
        alayout=alayout,
        blayout=blayout,
        clayout=clayout,
    )
    stored = "f4" if type_ == "tf32" else type_
    low = 0 if type_ == "u1" else -4
    a, b, c = integers((m, k), stored, low), integers((k, n), stored, low), integers((m, n), sums)
    la, lb, lc = 48, 80, 40  # of elements, each a multiple of 16 bytes and more than the matrix has
    d = padded(np.zeros((m, n), results), clayout, lc)
    args = [padded(a, alayout, la), padded(b, blayout, lb), padded(c, clayout, lc), d, la, lb, lc]
    run(source, 1, 32, args, engine)
    want = numbers(a, stored) @ numbers(b, stored) + numbers(c, sums)
    assert np.array_equal(d, padded(want.astype(results), clayout, lc))


_SMALL = """
extern "C" __global__ void k(const unsigned *a, const unsigned *b, int *d) {{
    fragment<matrix_a, 8, 8, {k}, experimental::precision::{type}, row_major> fa;
    fragment<matrix_b, 8, 8, {k}, experimental::precision::{type}, col_major> fb;
    fragment<accumulator, 8, 8, {k}, int> fc;
    load_matrix_sync(fa, a, {k});
    load_matrix_sync(fb, b, {k});
    fill_fragment(fc, 7);
    {call};
    store_matrix_sync(d, fc, 8, mem_row_major);
}}
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("type_", "call"),
    [
        ("s4", "mma_sync(fc, fa, fb, fc)"),
        ("u4", "mma_sync(fc, fa, fb, fc, true)"),
        ("b1", "bmma_sync(fc, fa, fb, fc, experimental::bmmaBitOpXOR)"),
        ("b1", "bmma_sync(fc, fa, fb, fc, experimental::bmmaBitOpAND)"),
    ],
)
def test_fragments_of_less_than_a_byte(type_: str, call: str, engine: str):
    width = int(type_[1])
    k = 128 // width if width == 4 else 128
    values = RNG.integers(0, 1 << width, (2, 8, k))
    shifted = values.reshape(2, 8, -1, 32 // width) << (width * np.arange(32 // width))
    words = shifted.sum(-1).astype(np.uint32)
    d = np.zeros((8, 8), np.int32)
    run(_SMALL.format(k=k, type=type_, call=call), 1, 32, [words[0], words[1], d], engine)
    a, b = np.where(values > 7, values - 16, values) if type_ == "s4" else values
    either = a[:, None, :] != b[None, :, :]
    want = either.sum(-1) if "XOR" in call else a @ b.T
    assert np.array_equal(d, want + 7)


# ---------------------------------------------------------------------------------------- whole products
_TILED = r"""
// Tiles of 64 by 64, four warps of 32 by 32 each; rows of shared memory are padded.
extern "C" __global__ void k(const __half *a, const __half *b, float *c, int n, int depth, int lda, int ldb) {
    __shared__ __half sa[64][16 + 8], sb[16][64 + 8];
    int warp = threadIdx.x / 32, top = warp / 2 * 32, left = warp % 2 * 32;
    int row = blockIdx.y * 64, col = blockIdx.x * 64;
    fragment<accumulator, 16, 16, 16, float> sums[2][2];
    for (int i = 0; i < 4; i++) fill_fragment(sums[i / 2][i % 2], 0.f);
    for (int k = 0; k < depth; k += 16) {
        for (int i = threadIdx.x; i < 64 * 16; i += blockDim.x) {
            sa[i / 16][i % 16] = a[(row + i / 16) * lda + k + i % 16];
            sb[i / 64][i % 64] = b[(k + i / 64) * ldb + col + i % 64];
        }
        __syncthreads();
        fragment<matrix_a, 16, 16, 16, __half, row_major> fa[2];
        fragment<matrix_b, 16, 16, 16, __half, row_major> fb[2];
        for (int i = 0; i < 2; i++) {
            load_matrix_sync(fa[i], &sa[top + 16 * i][0], 24);
            load_matrix_sync(fb[i], &sb[0][left + 16 * i], 72);
        }
        for (int i = 0; i < 4; i++) mma_sync(sums[i / 2][i % 2], fa[i / 2], fb[i % 2], sums[i / 2][i % 2]);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        auto &own = sums[i / 2][i % 2];
        for (int e = 0; e < own.num_elements; e++) own.x[e] = fmaxf(own.x[e], -20.f);
        float *place = c + (row + top + i / 2 * 16) * n + col + left + i % 2 * 16;
        store_matrix_sync(place, own, n, mem_row_major);
    }
}
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_product_by_tiles_in_shared_memory(target: str, engine: str):
    m, n, depth, lda, ldb = 128, 192, 80, 88, 200
    a, b = integers((m, depth), "f2"), integers((depth, n), "f2")
    c = np.zeros((m, n), np.float32)
    args = [padded(a, "row", lda), padded(b, "row", ldb), c, n, depth, lda, ldb]
    run(_TILED, (n // 64, m // 64), 128, args, engine, target)
    assert np.array_equal(c, np.maximum(a.astype(np.float32) @ b.astype(np.float32), -20))


_INLINE = r"""
__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
// One warp multiplies 16 by 64 with 64 by 8 (B by columns); rows of shared memory are 144 bytes apart.
extern "C" __global__ void k(const __half *a, const __half *b, float *c) {
    __shared__ __align__(16) __half sa[16][72], sb[64][8];
    int lane = threadIdx.x;
    for (int i = lane; i < 16 * 64; i += 32) sa[i / 64][i % 64] = a[i];
    for (int i = lane; i < 64 * 8; i += 32) sb[i / 8][i % 8] = b[i];
    __syncwarp();
    float d[4] = {0, 0, 0, 0};
    for (int k = 0; k < 64; k += 16) {
        unsigned x[4], y[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
            : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
            : "r"(shared_address(&sa[lane % 16][k + lane / 16 * 8])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
            : "=r"(y[0]), "=r"(y[1]) : "r"(shared_address(&sb[k + lane % 16][0])));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
            "{%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
    for (int i = 0; i < 4; i++) c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_inline_ldmatrix_and_mma(engine: str):
    a, b, c = integers((16, 64), "f2"), integers((64, 8), "f2"), np.zeros((16, 8), np.float32)
    run(_INLINE, 1, 32, [a, b, c], engine)
    assert np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


_TF32 = """
extern "C" __global__ void k(const float *a, const float *b, float *c) {
    fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> fa;
    fragment<matrix_b, 16, 16, 8, precision::tf32, col_major> fb;
    fragment<accumulator, 16, 16, 8, float> fc;
    load_matrix_sync(fa, a, 8);
    load_matrix_sync(fb, b, 8);
    for (int i = 0; i < fa.num_elements; i++) fa.x[i] = __float_to_tf32(fa.x[i]);
    for (int i = 0; i < fb.num_elements; i++) fb.x[i] = __float_to_tf32(fb.x[i]);
    fill_fragment(fc, 0.f);
    mma_sync(fc, fa, fb, fc);
    store_matrix_sync(c, fc, 16, mem_row_major);
}
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_singles_rounded_to_tf32(engine: str):
    a, b = RNG.random((16, 8), np.float32), RNG.random((16, 8), np.float32)
    c = np.zeros((16, 16), np.float32)
    run(_TF32, 1, 32, [a, b, c], engine)
    # Rounded to 10 bits, ties away from zero, and then summed with at most one unit lost in each step.
    x, y = (((m.view(np.uint32) + 0x1000) & 0xFFFFE000).view(np.float32).astype(np.float64) for m in (a, b))
    assert np.allclose(c, x @ y.T, rtol=2**-21, atol=0)


# ---------------------------------------------------------------------------------------- mistakes
_SHORT = """
extern "C" __global__ void k(const __half *a, float *c) {
    fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
    load_matrix_sync(fa, a, 24);
    c[threadIdx.x] = (float)fa.x[0];
}
"""


@pytest.mark.parametrize("engine", ["reference", "kinds"])
def test_a_fragment_beyond_its_array_is_a_fault(engine: str):
    a, c = np.zeros(16 * 24 - 12, np.float16), np.zeros(32, np.float32)
    with pytest.raises(LaunchError, match="has 372 elements"):
        run(_SHORT, 1, 32, [a, c], engine)
    lab.reset("cpu")
