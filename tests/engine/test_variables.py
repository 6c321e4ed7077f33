"""__constant__ and __device__ variables are set and read from Python."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg

TEXT = """
struct Pair { float a; int b; };
__constant__ float M[2][3], scale = 2.0f;
__device__ int count;
static __constant__ double weights[3];
namespace inner { __device__ unsigned long long total; namespace { __constant__ Pair pair; } }
__device__ float4 corners[2];
__device__ int unused[4];
extern "C" __global__ void k(float *out)
{
    int i = threadIdx.x;
    out[i] = M[1][i] * scale + float(weights[i]) + corners[1].x + inner::pair.a * inner::pair.b;
    if (i == 0) { count += 1; inner::total = 10; }
}
"""


def launch(kernel: wg.Kernel, how: str = "run") -> np.ndarray:
    out = np.zeros(3, np.float32)
    getattr(wg, how)(kernel, 1, 3, (out,))
    return out


@pytest.mark.parametrize("how", ["run", "check", "profile"])
def test_values_are_set_and_read(how: str) -> None:
    kernel = wg.compile(TEXT, "k")
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    kernel.set("M", rows)
    kernel.set("weights", [0.5, 1, 2])
    kernel.set("inner::pair", np.array((3.0, 2), "f4,i4"))
    np.testing.assert_array_equal(launch(kernel, how), rows[1] * 2 + np.array([0.5, 1, 2]) + 6)
    np.testing.assert_array_equal(kernel.get("M"), rows)
    assert kernel.get("count") == 1
    assert kernel.get("total") == 10  # the namespace may be left out
    launch(kernel, how)
    assert kernel.get("count") == 2  # values stay from launch to launch
    kernel.set("count", 40)
    assert kernel.get("count") == 40
    launch(kernel, how)
    assert kernel.get("count") == 41


def test_initial_values_and_forms() -> None:
    kernel = wg.compile(TEXT.replace("count", "counter"), "k")
    assert kernel.get("scale") == np.float32(2)
    assert kernel.get("scale").dtype == np.float32
    assert kernel.get("corners").shape == (2, 4)
    kernel.set("corners", np.ones(8, np.float32))
    kernel.set("scale", 3)
    kernel.set("M", np.ones(6, np.float32))  # the number of bytes counts
    np.testing.assert_array_equal(launch(kernel), 4)
    kernel.set("unused", [1, 2, 3, 4])
    np.testing.assert_array_equal(kernel.get("unused"), [1, 2, 3, 4])
    assert kernel.get("pair").nbytes == 8


def test_a_repeated_launch_sees_a_new_value() -> None:
    kernel, out = wg.compile(TEXT, "k"), np.zeros(3, np.float32)
    for value in range(5):
        kernel.set("weights", np.full(3, float(value)))
        kernel.set("M", np.zeros((2, 3), np.float32))
        kernel.set("pair", bytes(8) and np.zeros(8, np.uint8))
        kernel.set("corners", np.zeros(8, np.float32))
        kernel[1, 3](out)
        np.testing.assert_array_equal(out, value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("N", 1, r"no __constant__ or __device__ variable N; .*float M\[2\]\[3\], float scale"),
        ("scal", 1, "did you mean scale"),
        ("M", np.zeros(6), r"float M\[2\]\[3\] needs float32, got float64; pass x.astype\(np.float32\)"),
        ("M", np.zeros(5, np.float32), r"float M\[2\]\[3\] has 24 bytes, got 20"),
        ("count", 2.5, r"int count cannot hold 2.5"),
        ("count", 2**31, "cannot hold 2147483648"),
        ("total", -1, "cannot hold -1"),
        ("count", "x", "cannot hold x"),
        ("pair", np.zeros(3, np.float32), r"has 8 bytes, got 12"),
    ],
)
def test_what_does_not_fit_is_refused(name: str, value: object, message: str) -> None:
    with pytest.raises(wg.ArgumentError, match=message):
        wg.compile(TEXT, "k").set(name, value)


def test_variables_of_ptx() -> None:
    ptx = wg.compile(TEXT, "k").compile().ptx
    kernel = wg.compile(ptx, "k", language="ptx")
    kernel.set("weights", np.arange(3.0))
    np.testing.assert_array_equal(launch(kernel), [0, 1, 2])
    assert kernel.get("count").view(np.int32)[()] == 1
    with pytest.raises(wg.ArgumentError, match="24 bytes"):
        kernel.set("weights", np.arange(4.0))


def test_python_kernels_have_none() -> None:
    def nothing(x) -> None: ...

    with pytest.raises(wg.ArgumentError, match="kernels in Python"):
        wg.from_numba(nothing).set("M", 1)


def test_every_loading_has_variables_of_its_own() -> None:
    for _ in range(2):
        kernel = wg.compile(TEXT, "k")
        launch(kernel)
        assert kernel.get("count") == 1
