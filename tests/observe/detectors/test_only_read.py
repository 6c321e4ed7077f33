"""What a launch can only read, found from its code, against what it writes when it runs."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import warpglass as wg
from warpglass.codegen.context import GLOBAL_BASE
from warpglass.engine.cpu.address_space import GUARD
from warpglass.engine.cpu.backend import Begun, CpuBackend
from warpglass.engine.launch.backend import Launch
from warpglass.observe.detectors import Checker, layout
from warpglass.observe.detectors.instrumentation import Instrumentation
from warpglass.observe.detectors.races.only_read import Reach, only_read
from warpglass.program.pointers import MEMORY, OWN

COUNT = 256
KERNELS = r"""
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define KERNEL(name) extern "C" __global__ void name(float* a, float* b, float* c, long long n, float** rows)
struct Pair { float* to; const float* from; };
__device__ float table[256];
__device__ float* pointer;
__device__ __noinline__ void put(float* where, float value) { where[I] = value; }
KERNEL(plain) { a[I] = b[I] + c[I]; }
KERNEL(last) { (a + n)[-1 - (int)I] = b[I]; }
KERNEL(chosen) { float* to = b[0] > 0 ? a : b; to[I] = c[I]; }
KERNEL(swapped) {
    float *from = a, *to = b;
    for (int k = 0; k < 3; ++k) { to[I] = from[I] + c[I]; float* t = from; from = to; to = t; }
}
KERNEL(called) { put(a, b[I]); put(c, 1); }
KERNEL(updated) { atomicAdd(&a[(int)b[I] % 7], c[I]); }
KERNEL(gathered) { a[(long long)b[I] + n - n] = c[((long long*)c)[0] & 7]; }
KERNEL(difference) { long long way = b - a; a[way + I] = 1; }
KERNEL(loaded) { rows[1][I] = b[I]; }
KERNEL(table_written) { table[I % 256] = b[I]; }
KERNEL(table_read) { a[I] = table[I % 256]; }
KERNEL(kept) { float* both[2] = {a, b}; both[(int)c[0] & 1][I] = c[I]; }
KERNEL(shared_first) {
    __shared__ float tile[64];
    float* to = b[0] > 9 ? tile : a;
    to[threadIdx.x] = c[I];
}
KERNEL(halves) {
    unsigned long long bits = (unsigned long long)a;
    unsigned low = __shfl_sync(~0u, (unsigned)bits, 0), high = __shfl_sync(~0u, (unsigned)(bits >> 32), 0);
    ((float*)((unsigned long long)high << 32 | low))[I] = b[I];
}
KERNEL(allocated) { float* own = (float*)malloc(4); *own = b[I]; a[I] = *own; free(own); }
extern "C" __global__ void in_struct(float* a, float* b, float* c, Pair pair) {
    pair.to[I] = pair.from[I] + c[I];
}
"""
# Which of a, b and c a kernel can only read, and whether the module's variables.
EXPECTED = {
    "plain": "bcm",
    "last": "bcm",
    "chosen": "cm",
    "swapped": "cm",
    "called": "bm",
    "updated": "bcm",
    "gathered": "bcm",
    "difference": "cm",
    "loaded": "",
    "table_written": "abc",
    "table_read": "bcm",
    "kept": "",
    "shared_first": "bcm",
    "halves": "bcm",
    "allocated": "bcm",
    "in_struct": "bcm",
}


def observed(name: str, args: tuple[Any, ...]) -> tuple[Checker, set[int]]:
    """Check one launch; the checker, and the regions that were thought to be only read."""
    compiled = wg.compile(KERNELS, name).compile(args)
    checker, found = Checker(), set[int]()

    def begin(begun: Begun) -> None:
        checker.begin(begun)
        code = next(iter(begun.scene.executable.probes))
        assert isinstance(code, Instrumentation)
        rows = np.zeros((layout.FIRST_ARRAY + len(begun.scene.laid.placed), layout.REGION_WORDS), np.int64)
        for row, one in zip(rows[layout.FIRST_ARRAY :], begun.scene.laid.placed, strict=True):
            row[[layout.BASE, layout.SIZE]] = one.base, one.allocation.nbytes
        reach = Reach(rows, begun.parameters, begun.scene.prepared.symbols.parameters)
        found.update(
            only_read(
                reach, code.only_read.stores, [layout.MODULE_REGION, *range(layout.FIRST_ARRAY, len(rows))]
            )
        )

    CpuBackend().observe(Launch(compiled, (4, 1, 1), (64, 1, 1), args, 0, 60.0), checker, begin)
    return checker, found


# Where the first two arrays of a launch lie.
PLACES = np.array([GLOBAL_BASE, GLOBAL_BASE + 4 * COUNT + GUARD], np.uint64)


@pytest.mark.parametrize("name", EXPECTED)
def test_only_what_no_store_reaches_is_taken_for_only_read(name: str) -> None:
    a, b, c = np.zeros(COUNT, np.float32), np.zeros(COUNT, np.float32), np.full(COUNT, 2, np.float32)
    b[:] = np.arange(COUNT) % 5
    args = (
        (a, b, c, (ctypes.c_uint64 * 2)(*PLACES))
        if name == "in_struct"
        else (a, b, c, np.int64(COUNT), PLACES)
    )
    before = [array.copy() for array in (a, b, c)]
    checker, found = observed(name, args)
    said = {layout.FIRST_ARRAY + k: letter for k, letter in enumerate("abc")} | {layout.MODULE_REGION: "m"}
    assert "".join(sorted(said[one] for one in found if one in said)) == "".join(sorted(EXPECTED[name]))
    for letter, old, new in zip("abc", before, (a, b, c), strict=True):
        assert np.array_equal(old, new) or letter not in EXPECTED[name]
    assert checker.notes == ()


def test_an_array_under_two_names_is_written() -> None:
    whole = np.zeros(2 * COUNT, np.float32)
    args = (whole[:COUNT], whole[COUNT:], np.ones(COUNT, np.float32), np.int64(0), np.zeros(2, np.int64))
    _, found = observed("plain", args)
    assert layout.FIRST_ARRAY not in found
    assert layout.FIRST_ARRAY + 1 in found


@pytest.mark.parametrize("bases", [frozenset([MEMORY]), frozenset([MEMORY, OWN])])
def test_what_is_not_known_may_be_anywhere(bases: frozenset[str]) -> None:
    rows = np.zeros((layout.FIRST_ARRAY + 1, layout.REGION_WORDS), np.int64)
    reach = Reach(rows, b"", {})
    assert only_read(reach, [bases], [layout.FIRST_ARRAY]) == frozenset()
    assert only_read(reach, [frozenset([OWN])], [layout.FIRST_ARRAY]) == {layout.FIRST_ARRAY}


def test_a_store_that_was_not_foreseen_is_noticed() -> None:
    """A distance from memory leads to another array."""
    text = """extern "C" __global__ void far(float* a, const float* b, float* c, const long long* way) {
        a[way[0] + threadIdx.x] = 1.0f;
        c[threadIdx.x] = b[(threadIdx.x + 32) % 64];
    }"""
    a, b, c = (np.zeros(64, np.float32) for _ in range(3))
    way = np.array([GUARD // 4 + 128])
    found = wg.check(wg.compile(text, "far"), 1, 64, (a, b, c, way))
    assert [one.kind for one in found.findings] == ["global-race"]
    assert any("races may be missing" in note for note in found.notes)
