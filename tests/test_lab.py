"""The public functions: what they refuse, in which words; no user's mistake ends in a traceback of ours."""

from __future__ import annotations

import math
import pickle
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpglass as wg
from warpglass import lab
from warpglass.errors import FaultPlace

SOURCE = r"""
extern "C" __global__ void scale(float* x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}
extern "C" __global__ void sum(const double* x, double* out, int n) {
    __shared__ double part[64];
    double mine = 0;
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) mine += x[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 32; half; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
extern "C" __global__ void fill(int* x, int n) { extern __shared__ int room[]; room[threadIdx.x] = n;
    __syncthreads(); x[threadIdx.x] = room[threadIdx.x]; }
"""


@pytest.fixture(autouse=True)
def on_the_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("WARPGLASS_DEVICE", "cpu")
    yield
    lab.reset("cpu")


def kernel(name: str = "scale") -> lab.Kernel:
    return wg.compile(SOURCE, name)


# ---------------------------------------------------------------------------------------- launching
def test_launch_syntax() -> None:
    x = np.arange(100, dtype=np.float32)
    k = kernel()
    k[4, 32](x, 2.0, 100)
    k[(4,), (32, 1)](x, np.float32(2), np.int64(100))
    k[np.int32(4), [32], 0, 0](x, 0.5, 100)
    assert (x == np.arange(100) * 2).all()
    out = np.zeros(8, np.int32)
    kernel("fill")[1, 8, 0, 32](out, 7)
    assert (out == 7).all()


def test_run_reports_what_it_took() -> None:
    x = np.ones(10, np.float32)
    done = wg.run(kernel(), 1, 32, (x, 3.0, 10), timeout=math.inf)
    assert isinstance(done, wg.Run)
    assert (done.label, done.transfer_seconds) == ("engine", 0)
    assert 0 < done.seconds < 10
    assert "no GPU is involved" in done.device
    assert (x == 3).all()


def test_the_model_sets_the_limits() -> None:
    out = np.zeros(64, np.int32)
    wg.run(kernel("fill"), 1, 64, (out, 1), shared=200_000, model="h100")
    with pytest.raises(wg.LaunchError, match="200000 bytes.*GTX 280.*at most 16384"):
        wg.run(kernel("fill"), 1, 64, (out, 1), shared=200_000, model="gtx280")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"grid": 0}, "the grid 0 has an extent of 0"),
        ({"grid": 1.0}, "the grid 1.0 holds 1.0, which is no integer"),
        ({"block": (32, 32, 2)}, "2048 threads"),
        ({"block": ()}, "0 dimensions"),
        ({"shared": -1}, "dynamic shared memory is -1"),
        ({"shared": 1.5}, "dynamic shared memory is 1.5"),
        ({"shared": None}, "dynamic shared memory is None"),
        ({"shared": True}, "dynamic shared memory is True"),
        ({"timeout": 0}, "timeout is 0; it must be"),
        ({"timeout": math.nan}, "timeout is nan; it must be"),
        ({"timeout": "1"}, "timeout is '1'; it must be"),
        ({"device": "tpu"}, "device 'tpu'"),
        ({"model": "h900"}, "no GPU is called 'h900'"),
        ({"args": np.zeros(3)}, "args is a ndarray; pass a tuple"),
        ({"args": (1,)}, r"takes 3 arguments \(float \*x, float a, int n\), got 1"),
        ({"args": (np.zeros(3, "f4"), "a", 3)}, r"argument 2 of 3 \(a\)"),
        ({"kernel": print}, "is no kernel; load, compile and from_numba make one"),
    ],
)
def test_what_run_refuses(changes: dict[str, Any], words: str) -> None:
    x = np.zeros(3, np.float32)
    good: dict[str, Any] = {"kernel": kernel(), "grid": 1, "block": 32, "args": (x, 1.0, 3)}
    with pytest.raises(wg.WarpglassError, match=words):
        wg.run(**(good | changes))
    wg.run(**good)  # and the device is as good as before


def test_what_the_launch_syntax_refuses() -> None:
    for configuration in ((1,), (1, 2, 3, 4, 5), 7, (0, 32), (1, 32, 0, -4)):
        with pytest.raises(wg.WarpglassError):
            kernel()[configuration]


def test_an_unknown_engine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_ENGINE", "fast")
    with pytest.raises(wg.WarpglassError, match="WARPGLASS_ENGINE is 'fast'"):
        kernel()[1, 32](np.zeros(3, np.float32), 1.0, 3)


# ---------------------------------------------------------------------------------------- sources
@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("", None, "kernel"),
        ("int main() {", None, ""),
        ("__global__ void f(int* x) { x[0] = y; }", "f", 'identifier "y" is undefined'),
        ("__global__ void f(int* x) { x[0] = 1 }", "f", "1"),
        ("__global__ void f(int* x) {}", "g", "g"),
        ("template <typename T> __global__ void f(T* x) {}", "f", "f"),
        ("template <typename T> __global__ void f(T* x) {}", "f<nothing>", "nothing"),
        ("#error stop here\n__global__ void f(int* x) {}", "f", "stop here"),
        ('#include "none.h"\n__global__ void f(int* x) {}', "f", "none.h"),
        ("\0\1\2", "f", ""),
        ("__global__ void f(int* x) {} __global__ void g(int* x) {}", None, "f"),
    ],
)
def test_malformed_cpp(text: str, name: str | None, words: str) -> None:
    with pytest.raises(wg.CompileError) as caught:
        wg.compile(text, name)
    assert words in str(caught.value)


PTX = ".version 8.0\n.target sm_90\n.address_size 64\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "garbage",
        "\0\1\2",
        ".version 8.0",
        PTX,
        PTX + ".visible .entry f() {",
        PTX + ".visible .entry f() { bra nowhere; }",
        PTX + ".visible .entry f() { add.u32 %r1, %r2, 1; }",
        PTX + ".visible .entry f() { .reg .u32 %r<3>; add.u32 %r1; }",
        PTX + ".visible .entry f() { .reg .u32 %r<3>; frob.u32 %r1; }",
        PTX + ".visible .entry f() { .reg .u32 %r<3>; mov.u32 %r1, %no_such_register; }",
        PTX + ".visible .entry f() { .reg .u32 %r<3>; mov.u32 %r1, %r2.x; }",
        PTX + ".visible .entry f() { .reg .u32 %r<3>; mov.u32 %r1, nothing; }",
    ],
)
def test_malformed_ptx(text: str) -> None:
    with pytest.raises(wg.CompileError):
        wg.compile(text, "f", language="ptx")[1, 32]()


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(SOURCE, encoding="utf-8-sig")
    x = np.ones(4, np.float32)
    wg.load(tmp_path / "k.cu", "scale")[1, 32](x, 2.0, 4)
    assert (x == 2).all()


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    """Comments in an older encoding are common; they compile, and errors beside them are shown."""
    (tmp_path / "k.cu").write_bytes(b"// caf\xe9\n" + SOURCE.encode())
    x = np.ones(4, np.float32)
    wg.load(tmp_path / "k.cu", "scale")[1, 32](x, 2.0, 4)
    assert (x == 2).all()
    (tmp_path / "bad.cu").write_bytes(b"__global__ void f() { caf\xe9; }")
    with pytest.raises(wg.CompileError, match="bad.cu"):
        wg.load(tmp_path / "bad.cu", "f")


def test_files_and_languages_that_do_not_exist(tmp_path: Path) -> None:
    (tmp_path / "k.txt").write_text(SOURCE)
    (tmp_path / "k.cu").write_bytes(b"\xff\xfe" + SOURCE.encode())
    (tmp_path / "k.ptx").write_bytes(bytes(range(256)))
    for path in ("none.cu", "none.ptx", "none.py", "k.txt", "k.cu", "k.ptx", "."):
        with pytest.raises(wg.CompileError):
            wg.load(tmp_path / path, "scale")[1, 1]()
    with pytest.raises(wg.CompileError, match="rust"):
        wg.compile(SOURCE, "scale", language="rust")
    with pytest.raises(wg.CompileError, match="function"):
        wg.from_numba(3)  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------- broken at random
def _mutate(text: str, chance: random.Random) -> str:
    """A slip of the keyboard: a line lost, doubled or moved, a word or letter replaced, the end cut off."""
    lines = text.split("\n")
    first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
    words = list(re.finditer(r"%\w+|\.\w+|\b\w+\b", text))
    word, other = chance.choice(words), chance.choice(words)
    place = chance.randrange(len(text))
    match chance.randrange(6):
        case 0:
            del lines[first]
        case 1:
            lines.insert(first, lines[second])
        case 2:
            lines[first], lines[second] = lines[second], lines[first]
        case 3:
            return text[:place]
        case 4:
            return text[:place] + chance.choice("%.;,{}[]()019xr+-@!") + text[place + chance.randrange(2) :]
        case _:
            return text[: word.start()] + other.group() + text[word.end() :]
    return "\n".join(lines)


@pytest.mark.parametrize("engine", ["kinds", "reference"])
@pytest.mark.parametrize("name", ["scale", "sum"])
def test_ptx_with_slips_runs_or_is_refused(name: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_ENGINE", engine)
    text = kernel(name).compile().ptx
    chance = random.Random(name)
    refused = 0
    for _ in range(120):
        broken = _mutate(text, chance)
        x = np.ones(100)
        args = (x.astype(np.float32), 2.0, 100) if name == "scale" else (x, np.zeros(3), 100)
        try:
            wg.run(wg.compile(broken, name, language="ptx"), 3, 64, args, timeout=0.5)
        except wg.WarpglassError:
            refused += 1
            lab.reset("cpu")
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}\n{broken}") from error
    assert refused > 40


BROKEN = """
.version 7.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x)
{
    .reg .u64 %d<2>
    ld.param.u64 %d1, [x;
    ret;
}
"""


def test_malformed_ptx_fails_when_it_is_compiled(tmp_path):
    with pytest.raises(wg.CompileError, match="7"):
        wg.compile(BROKEN, language="ptx")
    file = tmp_path / "broken.ptx"
    file.write_text(BROKEN)
    with pytest.raises(wg.CompileError, match="k"):
        wg.load(file)


def test_compiling_imports_no_parser_for_other_languages():
    script = (
        "import sys, warpglass; warpglass.compile('__global__ void k() {}'); "
        "assert 'warpglass.ptx' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_launch_errors_can_be_pickled():
    place = FaultPlace("out-of-bounds", line=3)
    for error in (
        wg.LaunchError("no", cuda_name="cudaErrorInvalidValue", synchronous=True, sticky=False),
        wg.KernelFault("bad", place, cuda_name="cudaErrorIllegalAddress"),
        wg.KernelTimeout("late", place),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
