"""CUDA C++ through NVRTC: names, options, headers, messages, argument names."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from warpglass.errors import CompileError
from warpglass.source import Compiled, CompilerWarning, compile_text, load, nvcc, nvrtc
from warpglass.source.apart import Apart, FailedApart
from warpglass.source.cpp_text import Parameter, find_kernels

SUM = """
template <unsigned N> __global__ void reduce(const double* __restrict__ x, double* out, unsigned n) {
    out[0] = x[0] + N + n;
}
"""
MACRO = '#define KERNEL(n) extern "C" __global__ void n(int* x)\nKERNEL(made) { x[0] = 1; }'


def compiled(text: str, name: str | None = None, **rest: Any) -> Compiled:
    return compile_text(text, name, **rest).compile(())


def refusal(text: str, name: str | None = None, **rest: Any) -> CompileError:
    with pytest.raises(CompileError) as caught:
        compile_text(text, name, **rest)
    return caught.value


# ---------------------------------------------------------------------------------------- names
@pytest.mark.parametrize(
    ("text", "name", "entry"),
    [
        ('extern "C" __global__ void k(int* x) { x[0] = 1; }', "k", "k"),
        ("__global__ void k(int* x) { x[0] = 1; }", "k", "_Z1kPi"),
        (SUM, "reduce<512u>", "_Z6reduceILj512EEvPKdPdj"),
        ("namespace a { template <class T, int N> __global__ void k(T* x) { x[0] = N; } }", "a::k<float, 4>",
         "_ZN1a1kIfLi4EEEvPT_"),
        ("namespace a { __global__ void k(int* x) { x[0] = 1; } }", "k", "_ZN1a1kEPi"),
        ("__global__ void k(int* x) { x[0] = 1; }", "_Z1kPi", "_Z1kPi"),
        (MACRO, "made", "made"),
        (MACRO, None, "made"),
        ("__device__ int f(int a) { return a; } __global__ void only(int* x) { x[0] = f(1); }", None,
         "_Z4onlyPi"),
    ],
)  # fmt: skip
def test_entry_names(text: str, name: str | None, entry: str) -> None:
    kernel = compiled(text, name)
    assert kernel.entry == entry
    assert f".entry {entry}(" in kernel.ptx
    assert kernel.language == "cuda"
    if name:
        assert kernel.name == name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing", ["no kernel named missing", "reduce<...>", "plain"]),
        ("reduce", ["reduce is a template", "reduce<256>"]),
        ("reduce<float>", ["cannot form reduce<float>"]),
        (None, ["name the kernel to load", "reduce<...>", "plain"]),
        ("helper", ["no kernel named helper"]),
    ],
)
def test_missing_entry_lists_the_kernels(name: str | None, said: list[str]) -> None:
    text = SUM + "__global__ void plain(int* x) {} __device__ int helper(int a) { return a; }"
    message = str(refusal(text, name))
    assert all(part in message for part in said), message


def test_only_the_entry_asked_for_is_instantiated() -> None:
    kernel = compiled(SUM, "reduce<512u>")
    assert kernel.ptx.count(".entry") == 1


# ---------------------------------------------------------------------------------------- options
def test_defines_and_standard() -> None:
    text = 'extern "C" __global__ void k(long* x) { x[0] = X * __cplusplus; }'
    assert str(7 * 201703) in compiled(text, "k", options=("-DX=7",)).ptx
    assert str(7 * 202002) in compiled(text, "k", options="-D X=7 -std=c++20").ptx
    assert "identifier" in str(refusal(text, "k"))


def test_target() -> None:
    text = 'extern "C" __global__ void k(int* x) { x[0] = __CUDA_ARCH__; }'
    assert ".target sm_80" in compiled(text, "k", target="sm_80").ptx
    assert ".target sm_90a" in compiled(text, "k", target="sm_90a").ptx
    assert "sm_90" in str(refusal(text, "k", target="volta"))
    assert "target=" in str(refusal(text, "k", options=("-arch=sm_80",)))


# ---------------------------------------------------------------------------------------- headers
@pytest.mark.parametrize(
    ("includes", "body"),
    [
        ("#include <cooperative_groups.h>", "cooperative_groups::this_grid().sync(); x[0] = 1;"),
        ("#include <cuda_fp16.h>", "__half h = __float2half(1.5f); x[0] = __half2int_rn(h);"),
        ("#include <cub/block/block_reduce.cuh>",
         "typedef cub::BlockReduce<int, 128> B; __shared__ typename B::TempStorage t;"
         "int r = B(t).Sum(x[threadIdx.x]); if (threadIdx.x == 0) x[0] = r;"),
        ("#include <cub/cub.cuh>",
         "typedef cub::BlockScan<int, 128> B; __shared__ B::TempStorage t;"
         "int r; B(t).InclusiveSum(x[threadIdx.x], r); x[threadIdx.x] = r;"),
        ("#include <cuda/std/limits>", "x[0] = cuda::std::numeric_limits<int>::max();"),
        ("#include <cuda_runtime.h>\n#include <cstdint>\n#include <cstdio>\n#include <cassert>\n"
         "#include <climits>",
         "int64_t y = x[0]; std::uint8_t z = 3; assert(y == 3); printf(\"%d\", z); x[1] = y + INT_MAX;"),
        ("#include <cmath>\n#include <limits>\n#include <type_traits>",
         "x[0] = std::sqrt(2.0f) + std::numeric_limits<int>::max() + std::is_same<int, int>::value;"),
    ],
)  # fmt: skip
def test_cuda_headers_are_found(includes: str, body: str) -> None:
    kernel = compiled(f'{includes}\nextern "C" __global__ void k(int* x) {{ {body} }}', "k")
    assert ".entry k(" in kernel.ptx


@pytest.mark.parametrize("includes", ["", "#include <math.h>", "#include <cooperative_groups.h>"])
def test_what_nvcc_includes_unasked_is_there(includes: str) -> None:
    body = "x[0] = INFINITY; x[1] = NAN; x[2] = HUGE_VALF; x[3] = M_PI + top; x[4] = INT_MAX - CHAR_BIT;"
    text = f'{includes}\nconstexpr float top = -INFINITY; extern "C" __global__ void k(float* x) {{ {body} }}'
    assert compiled(text, "k").warnings == ()
    body = "uint a = x[0]; int64_t b = LONG_MAX; x[1] = std::sqrt(std::pow(x[2], 2.0f)) + a + b + M_1_PI;"
    assert compiled(f'{includes}\nextern "C" __global__ void k(float* x) {{ {body} }}', "k").warnings == ()
    assert "FLT_MAX" in str(refusal('extern "C" __global__ void k(float* x) { x[0] = FLT_MAX * M_PI; }', "k"))


def test_include_folders_are_opt_in(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "far.h").write_text("#define FAR 5\n")
    (tmp_path / "near.h").write_text("#pragma once\n#define NEAR 4\n")
    source = tmp_path / "k.cu"
    source.write_text('#include "near.h"\nextern "C" __global__ void k(int* x) { x[0] = NEAR; }\n')
    assert load(source, "k").compile(()).entry == "k"  # the file's own folder is offered
    assert load(source, "k", options=("-I", str(tmp_path))).compile(()).entry == "k"
    source.write_text('#include "far.h"\nextern "C" __global__ void k(int* x) { x[0] = FAR; }\n')
    with pytest.raises(CompileError, match=r"k\.cu:1.*(cannot open source file|No such file)"):
        load(source, "k")
    assert load(source, "k", options=("-I", str(other))).compile(()).entry == "k"


def test_host_headers_get_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvcc, "find", lambda: None)
    assert "__CUDACC_RTC__" in str(refusal("#include <fancy_gui>\n__global__ void k(int* x) {}", "k"))


def test_a_changed_header_compiles_again(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.h").write_text('#include "deep/b.h"\n')
    (tmp_path / "deep" / "b.h").write_text('#include "c.h"\n')
    value = tmp_path / "deep" / "c.h"
    source = tmp_path / "k.cu"
    source.write_text('#include "a.h"\nextern "C" __global__ void k(int* x) { x[0] = VALUE; }\n')
    for number in ("12345", "54321"):
        value.write_text(f"#define VALUE {number}\n")
        assert number in load(source, "k", options=("-I", str(tmp_path))).compile(()).ptx


def test_a_computed_include_is_never_cached(tmp_path: Path) -> None:
    (tmp_path / "v.h").write_text("#define VALUE 12345\n")
    source = tmp_path / "k.cu"
    source.write_text('#define H "v.h"\n#include H\nextern "C" __global__ void k(int* x) { x[0] = VALUE; }\n')
    assert "12345" in load(source, "k", options=("-I", str(tmp_path))).compile(()).ptx
    (tmp_path / "v.h").write_text("#define VALUE 54321\n")
    assert "54321" in load(source, "k", options=("-I", str(tmp_path))).compile(()).ptx


# ---------------------------------------------------------------------------------------- messages
def test_errors_carry_file_line_column_and_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "bad.cu"
    source.write_text('extern "C" __global__ void k(int* x) {\n    x[0] = foo;\n\n    x[1] = "a";\n}\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CompileError, match=r"bad\.cu: 2 errors") as caught:
        load(source, "k")
    first, second = caught.value.diagnostics
    assert (first.file, first.line, first.column) == (str(source), 2, 12)
    assert first.message == 'identifier "foo" is undefined'
    assert first.text is not None
    assert first.text.strip() == "x[0] = foo;"
    assert second.line == 4


def test_warnings_are_no_errors_and_not_lost() -> None:
    text = 'extern "C" __global__ void k(int* x) {\n    int unused = 3;\n    x[0] = 1;\n}\n'
    for _ in ("compiled", "cached"):
        with pytest.warns(CompilerWarning, match="never referenced"):
            kernel = compiled(text, "k")
        assert [found.line for found in kernel.warnings] == [2]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="No such file"):
        load(tmp_path / "none.cu", "k")
    (tmp_path / "k.txt").write_text("")
    with pytest.raises(CompileError, match=r"\.cu, \.ptx or \.py"):
        load(tmp_path / "k.txt", "k")


def fail(monkeypatch: pytest.MonkeyPatch, kind: str, text: str) -> None:
    """Let the compiler's process answer with an exception."""

    def call(*_: object) -> None:
        raise FailedApart(kind, text)

    monkeypatch.setattr(Apart, "call", call)


def test_missing_compiler_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    fail(monkeypatch, "ModuleNotFoundError", "import of cuda.bindings.nvrtc halted")
    assert "pip install cuda-bindings nvidia-cuda-nvrtc" in str(refusal(SUM, "reduce<3>"))


def test_missing_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    fail(monkeypatch, "RuntimeError", "Failure finding libnvrtc.so")
    message = str(refusal(SUM, "reduce<3>"))
    assert "pip install" in message
    assert "libnvrtc.so" in message


def test_missing_headers_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "header_folders", tuple)
    message = str(refusal("#include <cuda_fp16.h>\n" + SUM, "reduce<3>"))
    assert "nvidia-cuda-cccl" in message


def test_line_information_points_to_the_real_file(tmp_path: Path) -> None:
    source = tmp_path / "with space.cu"
    source.write_text('\n\nextern "C" __global__ void k(int* x) {\n    x[0] = 1;\n}\n')
    text = load(source, "k").compile(()).ptx
    assert f'"{source}"' in text
    assert ".loc\t1 4" in text


def test_the_cache_follows_a_file_that_moves(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        source = tmp_path / folder / "k.cu"
        (tmp_path / folder / "h.h").write_text("__device__ inline int f(int a) {\n  return a * a;\n}\n")
        source.write_text('#include "h.h"\nextern "C" __global__ void k(int* x) { x[0] = f(x[1]); }\n')
        text = load(source, "k", options=("-I", str(source.parent))).compile(()).ptx
        assert f'"{source}"' in text
        assert f'"{source.with_name("h.h")}"' in text


def test_text_has_a_name_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (tmp_path, Path("/")):
        monkeypatch.chdir(folder)
        assert '.file\t1 "<cuda>"' in compiled(SUM, "reduce<3>").ptx


def test_a_cached_kernel_needs_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    first = compiled(SUM, "reduce<8u>")

    def forbidden(*_: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(nvrtc, "compile_program", forbidden)
    assert compiled(SUM, "reduce<8u>") == first


# ---------------------------------------------------------------------------------------- arguments
def names_and_fields(text: str, name: str) -> list[tuple[str, str]]:
    arguments = compiled(text, name).arguments
    assert arguments is not None
    return [(argument.name, argument.fields[0]) for argument in arguments]


def test_argument_names_come_from_the_text() -> None:
    assert names_and_fields(SUM, "reduce<512u>") == [("x", "pointer"), ("out", "pointer"), ("n", "value")]


def test_difficult_parameters() -> None:
    text = """
    typedef float* Row;
    struct Pair { int a; double b; };
    /* __global__ void fake(int comment) */
    template <class T> __global__ void __launch_bounds__(128, 2) k(
        int* x,  // the "output", with a comment
        Row y, Pair p, const float (*z)[4], bool flag, T t = T(),
        unsigned long long count = sizeof(Pair), int = 3) {
        x[0] = y[0] + p.a + z[0][0] + flag + t + count;
    }
    """
    assert names_and_fields(text, "k<double>") == [
        ("x", "pointer"),
        ("y", "pointer"),
        ("p", "value"),
        ("z", "pointer"),
        ("flag", "value"),
        ("t", "value"),
        ("count", "value"),
        ("argument 8", "value"),
    ]


def test_unreadable_parameters_are_numbered() -> None:
    text = '#define ARGS int* x, int n\nextern "C" __global__ void k(ARGS) { x[0] = n; }'
    assert names_and_fields(text, "k") == [("argument 1", "pointer"), ("argument 2", "value")]


def test_kernels_are_found_in_text() -> None:
    kernels = find_kernels(
        "namespace a { namespace { __global__ __launch_bounds__(3) void f(int n) { if (n) {} } } }\n"
        'extern "C" { __global__ void g(void) {} }\n'
        "#define MAKE(n) __global__ void n(int)\n"
        "// __global__ void no(int)\n"
        "template <int N> struct S {}; __global__ void h(int* x, std::pair<int, float> p) { char c = '}'; }\n"
    )
    assert [(k.name, k.template, k.line) for k in kernels] == [
        ("a::f", False, 1),
        ("g", False, 2),
        ("h", False, 5),
    ]
    assert kernels[2].parameters == (
        Parameter("x", True, "int*"),
        Parameter("p", None, "std::pair<int, float>"),
    )


# ---------------------------------------------------------------------------------------- PTX
PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry first( .param .u64 a ) { ret; }
// .entry commented( .param .u64 a )
.entry second() { ret; }
"""


def test_ptx_entries(tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(PTX)
    kernel = load(file, "second").compile(())
    assert (kernel.entry, kernel.language, kernel.arguments) == ("second", "ptx", None)
    with pytest.raises(CompileError, match="first, second"):
        load(file)
    with pytest.raises(CompileError, match=r"no kernel named commented.*first, second"):
        load(file, "commented")
    with pytest.raises(CompileError, match="not PTX"):
        compile_text("int main() {}", language="ptx")
    only = PTX.replace(".entry second() { ret; }", "")
    assert compile_text(only, language="ptx").compile(()).entry == "first"


def test_unknown_language() -> None:
    with pytest.raises(CompileError, match="'cuda' or 'ptx'"):
        compile_text("", "k", language="opencl")


def test_compiling_leaves_the_interpreters_own_objects_alone() -> None:
    text = f'extern "C" __global__ void k(int *x) {{ *x = {time.time_ns() % 10**9}; }}'  # not from a cache
    compile_text(text, "k", language="cuda").compile(())
    assert bytes([32]) == bytearray([32])  # the one object that all single blanks are
