"""What goes into a kernel from the command line: compiler's flags, arguments, variables, files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from warpglass.cli import app
from warpglass.errors import ArgumentError
from warpglass.records.argument_text import make_arguments, parse_argument, parse_setting

SOURCE = """\
#include "near.h"
#include <far.h>
#ifndef N
#error N is not defined
#endif
__constant__ float M[3];
namespace a { __device__ int count; }
__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = twice(in[i]) * N * FAR + M[1];
    if (i == 0) a::count = 42;
}
template <class T> __global__ void other(T *__restrict__ x, float4 v) { x[0] = v.x; }
"""
SHAPE = ("--grid", "1", "--block", "32")
ARRAYS = ("--arg", "f4[8]:arange", "--arg", "float[8]", "--arg", "int=8")


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "far.h").write_text("#define FAR 2\n")
    (tmp_path / "near.h").write_text("__device__ inline float twice(float x) { return 2 * x; }\n")
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    return path


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def refusal(*words: str | Path) -> str:
    found = call(*words)
    assert isinstance(found.exception, ArgumentError), found.output
    return str(found.exception)


@pytest.mark.parametrize("command", ["run", "check", "profile"])
@pytest.mark.parametrize("separate", [False, True])
def test_flags_variables_and_results(command: str, separate: bool, kernels: Path, tmp_path: Path) -> None:
    define = ("-D", "N=4") if separate else ("-DN=4",)
    include = ("-I", tmp_path / "inc") if separate else (f"-I{tmp_path / 'inc'}",)
    saved = ("--out", f"out={tmp_path / 'deep' / 'y.npy'}", "--out", f"count={tmp_path / 'c.npy'}")
    flags = (*define, *include, "-std=c++20", "--use_fast_math", "-O3", "-X", "-restrict")
    found = call(command, f"{kernels}:scale", *SHAPE, *ARRAYS, *flags, "--set", "M=1,2,3", *saved)
    assert found.exit_code == 0, found.output
    np.testing.assert_array_equal(np.load(tmp_path / "deep" / "y.npy"), np.arange(8) * 16 + 2)
    assert np.load(tmp_path / "c.npy") == 42


def test_sums_are_labelled_by_the_parameters_names(kernels: Path, tmp_path: Path) -> None:
    found = call("run", f"{kernels}:scale", *SHAPE, *ARRAYS, "-DN=1", "-I", tmp_path / "inc")
    assert "Sum of in (f4[8]:arange): 28.0" in found.output
    assert "Sum of out (float[8]): 112.0" in found.output
    found = call("run", f"{kernels}:scale", *SHAPE, *ARRAYS, "-DN=1", "-I", tmp_path / "inc", "--json")
    assert [one["name"] for one in json.loads(found.stdout)["sums"]] == ["in", "out"]


def test_flags_reach_occupancy_and_the_target(kernels: Path, tmp_path: Path) -> None:
    flags = ("-DN=1", "-I", tmp_path / "inc")
    found = call("occupancy", f"{kernels}:scale", "--block", "64", "--model", "l4", *flags)
    assert found.exit_code == 0
    assert "NVIDIA L4" in found.output
    assert call("run", f"{kernels}:scale", *SHAPE, *ARRAYS, *flags, "-arch=sm_80").exit_code == 0


@pytest.mark.parametrize("command", ["run", "list", "check", "profile"])
def test_a_file_alone_shows_its_kernels(command: str, kernels: Path) -> None:
    found = call(command, kernels)
    assert found.exit_code == 0
    assert "scale(const float *in, float *out, int n)" in found.output
    assert "other<...>(T *x, float4 v)" in found.output


def test_kernels_of_ptx_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    head = ".version 8.0\n.target sm_80\n.address_size 64\n// c\n"
    path.write_text(head + ".visible .entry _Z1kPKfi(.param .u64 a, .param .u32 b) { ret; }\n")
    assert "_Z1kPKfi(const float *, int)" in call("run", path).output


def test_the_only_kernel_of_a_file_needs_no_name(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void only(float *x) { *x = 7; }")
    assert "Sum of x (f4[1]): 7.0" in call("run", path, *SHAPE, "--arg", "f4[1]").output


def test_devices_and_models_are_told_apart(kernels: Path, tmp_path: Path) -> None:
    launch = (f"{kernels}:scale", *SHAPE, *ARRAYS, "-DN=1", "-I", tmp_path / "inc")
    assert "--model l4" in refusal("run", *launch, "--device", "l4")
    assert "engine" in refusal("check", *launch, "--device", "gpu")
    assert "h100" in refusal("run", *launch, "--model", "h1000")
    assert "--model" in refusal("occupancy", "--block", "64", "--device", "cpu")
    assert call("check", *launch, "--device", "cpu").exit_code == 0


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--set", "MM=1"), "did you mean M"),
        (("--set", "M"), "write NAME=VALUE"),
        (("--set", "M=1,2"), "has 12 bytes, got 8"),
        (("--set", "M=[1, 2"), "is no list"),
        (("--out", "y.npy"), "write NAME=FILE.npy"),
        (("--out", "nothing=y.npy"), "no __constant__ or __device__ variable nothing"),
    ],
)
def test_options_that_mean_nothing(option: tuple[str, str], message: str, kernels: Path) -> None:
    flags = ("-DN=1", "-I", kernels.parent / "inc")
    assert message in refusal("run", f"{kernels}:scale", *SHAPE, *ARRAYS, *flags, *option)


def made(text: str) -> np.ndarray:
    return make_arguments([parse_argument(text)])[0]


def test_fills() -> None:
    expected = {
        "f4[3]:zeros": [0, 0, 0],
        "i4[3]:one": [1, 1, 1],
        "f8[2]:fill(2.5)": [2.5, 2.5],
        "f8[2]:2.5": [2.5, 2.5],
        "i4[3]=7": [7, 7, 7],
        "f4[3]=1,2,3": [1, 2, 3],
        "i4[4]=range": [0, 1, 2, 3],
        "int32[3]:arange(5,-2)": [5, 3, 1],
        "double[3]:linspace(0, 1)": [0, 0.5, 1],
        "f4[3]:linspace(start=1,stop=3)": [1, 2, 3],
        "f4=1,2": [1, 2],
        "c8[2]:1+2j": [1 + 2j, 1 + 2j],
        "f4[2]:inf": [np.inf, np.inf],
    }
    for text, values in expected.items():
        assert made(text).tolist() == values, text
    assert parse_argument("null") == parse_argument("nullptr")
    assert make_arguments([parse_argument("null")]) == [None]
    assert np.array_equal(made("f8[9]:rand(seed=5)"), np.random.RandomState(5).random_sample(9))
    drawn = made("i4[999]:rand(-3,3)")
    assert (drawn.min(), drawn.max()) == (-3, 2)
    drawn = made("f4[999]:rand(10,20)")
    assert 10 <= drawn.min() < drawn.max() < 20
    assert abs(made("f8[9999]:randn(5,2)").mean() - 5) < 0.1
    assert made("b1[4]:rand").dtype == np.bool_


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.asfortranarray(np.arange(6).reshape(2, 3)))
    assert made(str(path)).flags.c_contiguous
    path.write_text("nothing")
    for bad in (path, tmp_path / "missing.npy"):
        with pytest.raises(ArgumentError, match=bad.name):
            made(str(bad))


def test_settings() -> None:
    assert parse_setting("n=5") == ("n", 5)
    assert parse_setting("a::M=1,2.5") == ("a::M", [1, 2.5])
    assert parse_setting("M=[[1, 2], [3, 4]]") == ("M", [[1, 2], [3, 4]])
    assert parse_setting("M=f4[2]:one")[1].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("f4[1000000000000]", "more than"),
        ("f4[99999999,99999999,99999999]", "more than"),
        ("f4[8]:linspce", "did you mean linspace"),
        ("flot[8]", "did you mean float"),
        ("f4[3]=1,2", "2 values for 3 elements"),
        ("f4[8]:rand(x=2)", "no parameter of rand"),
        ("f4[8]:rand(1,2,3,4)", "no parameter of rand"),
        ("f4[8]:fill", "fill needs a value"),
        ("i4[2]:nan", "not possible"),
        ("i4[2]:rand(5,1)", "not possible"),
        ("f4=1+2j", "no f4 value"),
        ("f4[8]:", "f4"),
    ],
)
def test_arguments_that_cannot_be(text: str, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        make_arguments([parse_argument(text)])
