"""Kernels of whole programs: host code and its headers are there, and do no harm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warpglass as wg
from warpglass.source import load, nvcc
from warpglass.source.device_code import device_only

pytestmark = pytest.mark.skipif(nvcc.find() is None, reason="needs a C++ compiler and nvcc")

PROGRAM = """\
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>
#include <cuda.h>
#include <stdlib.h>
#include "scale.h"

#define CHECK(call) do { if ((call) != cudaSuccess) { std::cerr << "failed\\n"; exit(1); } } while (0)

std::vector<float> numbers;
struct Timer { std::string name; Timer(const char *n) : name(n) {} ~Timer() { std::cout << name; } };

template <class T, int N>
__global__ void scale(const T *in, T *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = twice(in[i]) * N;
}

namespace { __global__ void hidden(int *x) { x[threadIdx.x] = threadIdx.x; } }
static __global__ void local(int *x) { x[threadIdx.x] = 7; }
extern "C" __global__ void plain(unsigned *x) { atomicAdd(x, 1u); }
__global__ void generic(int *x) { auto f = [] __device__(int i) { return i + std::min(1, 2); }; *x = f(1); }

static void launch(float *x, float *y, int n) { scale<float, 3><<<(n + 255) / 256, 256>>>(x, y, n); }

int main(int argc, char **argv)
{
    Timer timer("all");
    float *x;
    CHECK(cudaMalloc(&x, 100));
    launch(x, x, 25);
    hidden<<<1, 32>>>(nullptr);
    local<<<1, 32>>>(nullptr);
    plain<<<1, 32>>>(nullptr);
    std::sort(numbers.begin(), numbers.end());
    return 0;
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "scale.h").write_text(
        "#pragma once\n#include <vector>\n"
        "template <class T> __host__ __device__ T twice(T x) { return x + x; }\n"
        "inline std::vector<int> helper() { return {1, 2}; }\n"
        "__global__ void in_header(int *x) { *x = 5; }\n"
    )
    path = tmp_path / "program.cu"
    path.write_text(PROGRAM)
    return path


def test_a_template_of_a_program(program: Path) -> None:
    scale = wg.load(program, "scale<double, 4>")
    x, y = np.arange(100.0), np.zeros(100)
    scale[1, 128](x, y, 100)
    np.testing.assert_array_equal(y, 8 * x)
    assert [str(one) for one in scale.compile().arguments or ()] == [
        "const double *in",
        "double *out",
        "int count",
    ]
    with pytest.raises(wg.ArgumentError, match=r"\(in\) got an array of float32"):
        scale[1, 128](x.astype("f4"), y, 100)


@pytest.mark.parametrize(
    ("name", "expected"), [("hidden", 3), ("local", 7), ("plain", 4), ("in_header", 5), ("generic", 2)]
)
def test_kernels_of_every_linkage(program: Path, name: str, expected: int) -> None:
    x = np.zeros(4, np.uint32)
    wg.load(program, name)[1, 4](x)
    assert expected in x


def test_nothing_of_ours_is_left_in_the_ptx(program: Path) -> None:
    compiled = wg.load(program, "scale<float, 3>").compile()
    assert "warpglass" not in compiled.ptx.replace(str(program.parent), "")
    assert f'"{program}"' in compiled.ptx


def test_an_error_in_a_kernel_is_shown_where_it_stands(program: Path) -> None:
    program.write_text(PROGRAM.replace("x[threadIdx.x] = 7", "x[threadIdx.x] = seven"))
    with pytest.raises(wg.CompileError, match='"seven" is undefined') as caught:
        load(program, "local")
    line = next(number for number, text in enumerate(PROGRAM.splitlines(), 1) if "void local" in text)
    assert f"program.cu:{line}" in str(caught.value)
    assert "static __global__ void local" in str(caught.value)  # the author's text, not the preprocessor's


def test_a_missing_header_is_named(program: Path) -> None:
    program.write_text('#include "nowhere.h"\n' + PROGRAM)
    with pytest.raises(wg.CompileError, match=r"program.cu:1: nowhere.h: No such file") as caught:
        load(program, "local")
    assert "-I" in str(caught.value)


def test_several_kernels_need_a_name(program: Path) -> None:
    with pytest.raises(wg.CompileError, match=r"scale<...>, .*hidden, local, plain, generic, in_header"):
        load(program)


@pytest.mark.parametrize(("name", "expected"), [("local", 9), ("plain", 4), ("in_header", 5)])
def test_without_a_host_compiler_host_code_is_left_out(
    name: str, expected: int, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvcc, "find", lambda: None)
    program.write_text(PROGRAM.replace("x[threadIdx.x] = 7", "x[threadIdx.x] = 9") + f"// {name}\n")
    x = np.zeros(4, np.uint32)
    wg.load(program, name)[1, 4](x)
    assert expected in x


def test_without_a_host_compiler_the_reason_is_told(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvcc, "find", lambda: None)
    program.write_text(PROGRAM.replace("x[threadIdx.x] = 7", "x[threadIdx.x] = numbers.size()"))
    with pytest.raises(wg.CompileError, match=r"need a C\+\+ compiler on this machine"):
        load(program, "local")


def test_host_code_is_blanked_in_place() -> None:
    text = (
        "#define HD __host__ __device__\n"
        "namespace a {\nint host(int x) { if (x) { return 1; } return 2; }\n"
        "HD int both() { return 1; }\nstruct S { int x; __device__ int get() { return x; } } s;\n}\n"
        "std::vector<int> v;\ntemplate <class T> void launch(T *x) { k<<<1, 1>>>(x); }\n"
        "__global__ void k(int *x) { x[0] = 1; }\n"
        "int main() { return 0; }\n"
    )
    left = device_only(text, {7})
    assert len(left) == len(text)
    assert left.count("\n") == text.count("\n")
    for gone in ("host(int", "vector", "launch", "main"):
        assert gone not in left
    for kept in ("namespace a {", "both() { return 1; }", "get()", "} s;", "x[0] = 1; }"):
        assert kept in left
