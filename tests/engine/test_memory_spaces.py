"""Module variables and local memory, on both implementations of the engine."""

from __future__ import annotations

import numpy as np
import pytest

from warpglass import lab
from warpglass.errors import KernelFault

VOLATILE = r"""
template <typename T> __global__ void held(const int *x, T *out) {
    volatile T a[16];
    int i = threadIdx.x;
    for (int k = 0; k < 16; k++) a[k] = k * 3 + i;
    out[i] = a[x[i]];
}
"""

VARIABLES = r"""
__constant__ int table[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__device__ int *pointer = &counter;
__device__ double halves[3] = {0.5, 1.5};
extern "C" __global__ void variables(int *out, int i) {
    out[0] = table[i];
    out[1] = ++*pointer;
    out[2] = (int)((halves[1] + halves[2]) * 10);
    counter += 0;
}
"""

LOCAL = r"""
extern "C" __global__ void arrays(const int *x, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int a[16];
    double d[8];
    unsigned short c[32];
    for (int k = 0; k < 16; k++) a[k] = k * i;
    for (int k = 0; k < 8; k++) d[k] = k + 0.5 * i;
    #pragma unroll 1
    for (int k = 0; k < 32; k++) c[k] = (k ^ i) & 255;
    if (i < n) {
        int j = x[i] & 15;
        a[j] += 100;
        d[j & 7] *= 2;
        c[j] += 3;
        int s = 0;
        for (int k = 0; k < 16; k++) s += a[(k * j) & 15];
        out[i] = s + (int)(d[(j + 1) & 7] + d[j & 7]) + c[(j * 2) & 31];
    }
}
extern "C" __global__ void leaves(int *out, int k) {
    int a[16];
    for (int q = 0; q < 16; q++) a[q] = out[q];
    a[k] = 7;
    int s = 0;
    for (int q = 0; q < 16; q++) s += a[(q * k) & 15];
    out[0] = s;
}
"""


PARAMETERS = r"""
struct Table { double scale; int entries[8]; float shift; };
__device__ __noinline__ int total(const Table &table) {
    int sum = 0;
    for (int k = 0; k < 8; k++) sum += table.entries[k];
    return sum;
}
extern "C" __global__ void looks_up(int *out, const __grid_constant__ Table table, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (int)(table.entries[i * 5 & 7] * table.scale + table.shift);
}
extern "C" __global__ void refers(int *out, const __grid_constant__ Table table, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = total(table) + i;
}
extern "C" __global__ void leaves_parameters(int *out, const __grid_constant__ Table table, int far) {
    out[threadIdx.x] = table.entries[threadIdx.x * far];
}
"""


pytestmark = pytest.mark.usefixtures("mode")


def test_module_variables_have_values_and_keep_them() -> None:
    kernel = lab.compile(VARIABLES, "variables")
    out = np.zeros(3, np.int32)
    lab.run(kernel, 1, 1, (out, 1), device="cpu")
    first = out.tolist()
    lab.run(kernel, 1, 1, (out, 2), device="cpu")
    assert first[::2] == [2, 15]
    assert out.tolist() == [3, first[1] + 1, 15]


def test_reading_past_a_module_variable() -> None:
    kernel = lab.compile(VARIABLES, "variables")
    with pytest.raises(KernelFault, match=r"4-byte read of table\[9\], but table has 4 elements") as caught:
        lab.run(kernel, 1, 1, (np.zeros(3, np.int32), 9), device="cpu")
    assert (caught.value.place.array, caught.value.place.index) == ("table", 9)


def expected(i: int, x: int) -> int:
    a = [k * i for k in range(16)]
    d = [k + 0.5 * i for k in range(8)]
    c = [(k ^ i) & 255 for k in range(32)]
    j = x & 15
    a[j] += 100
    d[j & 7] *= 2
    c[j] += 3
    return sum(a[(k * j) & 15] for k in range(16)) + int(d[(j + 1) & 7] + d[j & 7]) + c[(j * 2) & 31]


@pytest.mark.parametrize("block", [32, 100, 128])
def test_local_arrays(block: int) -> None:
    n = 1000
    x = np.random.default_rng(block).integers(0, 1000, n).astype(np.int32)
    out = np.zeros(n, np.int32)
    lab.run(lab.compile(LOCAL, "arrays"), -(-n // block), block, (x, out, n), device="cpu")
    assert out.tolist() == [expected(i, int(value)) for i, value in enumerate(x)]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "float32", "float64"])
def test_volatile_local_arrays(dtype: str) -> None:
    x, out = np.random.default_rng(3).integers(0, 16, 32, dtype=np.int32), np.zeros(32, dtype)
    name = {"int8": "signed char", "int16": "short", "int32": "int", "int64": "long long"}.get(dtype)
    name = name or {"float32": "float", "float64": "double"}[dtype]
    lab.run(lab.compile(VOLATILE, f"held<{name}>"), 1, 32, (x, out), device="cpu")
    np.testing.assert_array_equal(out, x * 3 + np.arange(32))


@pytest.mark.parametrize("index", [16, -1, 1 << 20])
def test_leaving_a_local_array(index: int) -> None:
    kernel = lab.compile(LOCAL, "leaves")
    with pytest.raises(KernelFault, match="thread's local arrays, but they take 64 bytes") as caught:
        lab.run(kernel, 1, 2, (np.arange(16, dtype=np.int32), index), device="cpu")
    assert caught.value.place.kind == "out-of-bounds"


def parameter_table(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    table = np.zeros((), np.dtype([("scale", "f8"), ("entries", "i4", 8), ("shift", "f4")], align=True))
    table["scale"], table["shift"] = rng.integers(1, 9), rng.integers(1, 99)
    table["entries"] = rng.integers(-1000, 1000, 8)
    return table


def test_parameters_by_address() -> None:
    looks_up, refers = lab.compile(PARAMETERS, "looks_up"), lab.compile(PARAMETERS, "refers")
    i = np.arange(70)
    for seed in range(2):  # the second launch has other parameters
        table, out = parameter_table(seed), np.zeros(70, np.int32)
        lab.run(looks_up, 3, 32, (out, table, 70), device="cpu")
        entries = table["entries"]
        assert out.tolist() == (entries[i * 5 & 7] * table["scale"] + table["shift"]).tolist()
        lab.run(refers, 3, 32, (out, table, 70), device="cpu")
        assert out.tolist() == (entries.sum() + i).tolist()


def test_reading_past_the_parameters() -> None:
    kernel = lab.compile(PARAMETERS, "leaves_parameters")
    text = "4-byte read at byte 416 of the kernel's parameters, which have 60 bytes"
    with pytest.raises(KernelFault, match=text) as caught:
        lab.run(kernel, 1, 2, (np.zeros(2, np.int32), parameter_table(0), 100), device="cpu")
    assert caught.value.place.kind == "out-of-bounds"
