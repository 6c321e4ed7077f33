"""Short forms of PTX: vector registers, sums as operands, accesses by name; results are those of an H200."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass.errors import CompileError, UnsupportedError
from warpglass.program import build_program
from warpglass.program.shorthand import write_out
from warpglass.ptx import PtxSyntaxError, parse, print_module

_SWAP = """.func (.reg .v2 .u32 r) swap(.reg .v2 .u32 a, .reg .pred p) {
    mov.u32 r.x, a.y; mov.u32 r.y, a.x; @p add.u32 r.x, r.x, 100; ret; }
"""
_NOT = ".func (.reg .pred r) opposite(.reg .pred a) { not.pred r, a; ret; }\n"
_VECTORS = (
    ".reg .v2 .u32 v, w; .reg .v4 .f32 q; .reg .v2 .b16 h<3>;"
    "mov.u32 v.x, 7; mov.u32 v.r, v.x; mov.u32 v.y, 9;"
)

# Functions, body -> the first words that it stores at %rd1.
CASES = {
    "whole vectors": (
        "",
        f"{_VECTORS} mov.v2.u32 w, v; st.global.v2.u32 [%rd1], w; ld.global.v2.u32 v, [%rd1];"
        "st.global.v2.u32 [%rd1+8], {v.y, v.g};",
        [7, 9, 9, 9],
    ),
    "parts by both names": (
        "",
        f"{_VECTORS} mov.f32 q.a, 0f3F800000; mov.f32 q.x, q.w; mov.f32 q.g, q.r; mov.f32 q.z, q.y;"
        "mov.f32 q.b, q.z; st.global.v4.f32 [%rd1], q;",
        [0x3F800000] * 4,
    ),
    "taken apart and put together": (
        "",
        f"{_VECTORS} mov.b64 %rd3, v; mov.b64 w, %rd3; mov.b32 h2, w.y; mov.b32 %r2, h2;"
        "mov.b32 %r3, {h2.y, h2.x};"
        "st.global.v4.u32 [%rd1], {w.x, w.y, %r2, %r3};",
        [7, 9, 9, 9 << 16],
    ),
    "vectors and predicates of functions": (
        _SWAP,
        f"{_VECTORS} setp.eq.u32 %p1, v.x, 7; call (w), swap, (v, %p1); st.global.v2.u32 [%rd1], w;",
        [109, 7],
    ),
    "predicates that functions return": (
        _NOT,
        "setp.eq.u32 %p1, %r1, 7; call (%p2), opposite, (%p1); selp.u32 %r2, 1, 2, %p2;"
        "call (%p2), opposite, (%p2); selp.u32 %r3, 1, 2, %p2; st.global.v2.u32 [%rd1], {%r2, %r3};",
        [1, 2],
    ),
    "sums as operands": (
        "",
        "mov.u32 %r2, %r1+1; add.u32 %r3, %r1+5, %r2+-3; mov.u64 %rd3, %rd1+4; st.global.u32 [%rd1], %r3;"
        "st.global.u32 [%rd3], %r1+(2*4-1); setp.eq.u32 %p1, %r1+1, 1; @!%p1 st.global.u32 [%rd1+8], %r1+1;",
        [3, 7, 0],
    ),
    "vectors of one": (
        "",
        "st.global.u32 [%rd1], {%r1}; ld.global.u32 {%r2}, [%rd1]; mov.b32 {%r3}, %r2; mov.b32 %r4, {%r3};"
        "add.u32 %r4, %r4, 6; st.global.u32 [%rd1+4], {%r4};",
        [0, 6],
    ),
    "variables by name": (
        "",
        ".shared .b32 s[4]; .local .b32 l[4]; st.u32 [s+4], 5; ld.u32 %r3, [s+4];"
        "st.u32 [l+4], %r3; ld.u32 %r4, [l+4]; atom.add.u32 %r5, [s+4], 1; red.add.u32 [s+4], 2;"
        "ld.volatile.u32 %r6, [s+4]; st.u32 [g], 3; ld.u32 %r7, [g];"
        "add.u32 %r6, %r6, %r7; st.global.v4.u32 [%rd1], {%r3, %r4, %r5, %r6};",
        [5, 5, 5, 11],
    ),
    "special registers as vectors": (
        "",
        "mov.v4.u32 {%r2, %r3, %r4, %r5}, %ntid; st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};",
        [1, 1, 1, 0],
    ),
    "elements of arrays": (
        "",
        ".shared .b32 s[8]; .shared .align 8 .v2 .b16 h[4]; .global .b32 t[4] = {5, 6, 7, 8};"
        "st.shared.u32 s[1+1], 3; mov.u32 %r2, 2; mov.u64 %rd3, 2; ld.u32 %r3, s[%r2];"
        "st.shared.v2.b16 h[2], {1, 2}; "
        "ld.shared.b32 %r4, [h+4]; mov.u64 %rd4, t[1]; ld.global.u32 %r5, [%rd4];"
        "ld.global.u32 %r6, t[%rd3+1]; "
        "add.u32 %r5, %r5, %r6; mov.u32 %r6, s[%r2+-1]; ld.shared.u32 %r6, [%r6+4];"
        "st.global.v4.u32 [%rd1], {%r3, %r4, %r5, %r6};",
        [3, 1 | 2 << 16, 14, 3],
    ),
    "32 bits of an index": (
        "",
        ".global .b32 t[4] = {5, 6, 7, 8}; mov.u64 %rd3, 0x140000002; mov.u32 %r2, 0x40000001;"
        "ld.global.u32 %r3, t[%rd3]; ld.global.u32 %r4, t[%r2]; st.global.v2.u32 [%rd1], {%r3, %r4};",
        [7, 6],
    ),
    "parameters by the longer name": (
        "",
        "ld.param::entry.u64 %rd4, [out]; st.global.u64 [%rd4], 12;",
        [12, 0],
    ),
    "the space of parameters last": ("", "ld.b64.param %rd4, [out]; st.global.u64 [%rd4], 12;", [12, 0]),
}


def text(functions: str, body: str) -> str:
    """A module whose kernel has its output at %rd1 and the lane in %r1."""
    module = kernel(f"ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; {body} ret;", "u64 out")
    return module.replace(".visible", f".global .b32 g;\n{functions}.visible")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", CASES)
def test_short_forms(case: str, engine: str):
    functions, body, expected = CASES[case]
    if engine == "gpu" and "predicates" in case:
        pytest.skip("ptxas 13 passes no predicates to functions")
    if engine == "gpu" and case == "vectors of one":
        pytest.skip("what the driver's assembler makes of such a mov is not what it moves")
    out = np.zeros(len(expected), np.uint32)
    run_ptx(text(functions, body), 1, 1, [out], engine=engine)
    assert out.tolist() == expected


@pytest.mark.parametrize("case", CASES)
def test_they_survive_printing(case: str):
    functions, body, expected = CASES[case]
    out = np.zeros(len(expected), np.uint32)
    run_ptx(print_module(parse(text(functions, body), "k")), 1, 1, [out], engine=CPU_ENGINES[0])
    assert out.tolist() == expected


def test_a_vector_register_that_is_only_declared_is_none():
    build_program(parse(text("", ".reg .v4 .b32 unused; .reg .v2 .f64 %v<12>;"), "k"), "k")


def test_a_plain_program_is_left_as_it_is():
    module = parse(text("", "ld.param.u64 %rd3, [out]; st.global.u32 [%rd3+4], %r1; st.u32 [g], %r1;"), "k")
    assert write_out(module, module.functions[0])[0] is module


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (".shared .b32 s; ld.global.u32 %r2, [s];", "s is in .shared, but is accessed as .global"),
        (".const .b32 c; ld.u32 %r2, [c];", "c is in .const, but is accessed as a generic address"),
        ("ld.u64 %rd2, [out];", "out is in .param, but is accessed as a generic address"),
        (".shared .b32 s; ld.shared.u32 %r2, s[0];", "s is no array, so it has no s[0]"),
        (".shared .b32 s[4]; add.u32 %r2, s[1], 4;", "only ld, st and mov take s[1]"),
        (".shared .b32 s[4]; ld.shared.u32 %r2, s[%f1+1];", "an index is an integer, but %f1 is .f32"),
        ("add.f32 %f1, %f2+1, %f1;", "%f2+1 is a sum of integers, but %f2 is .f32"),
    ],
)
def test_what_ptxas_refuses_too(body: str, words: str):
    with pytest.raises(CompileError) as caught:
        build_program(parse(text("", body), "k"), "k")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (".reg .v2 .u32 v; mov.u32 v.z, 3;", "v.z is no part of the vector register v; it has .x or .y"),
        (".reg .v8 .u32 v;", "a vector register has two or four parts"),
        (".reg .v2 .pred v;", "none of them predicates"),
    ],
)
def test_vector_registers_that_there_are_not(body: str, words: str):
    with pytest.raises(PtxSyntaxError) as caught:
        parse(text("", body), "k")
    assert words in str(caught.value)


def test_textures_as_parameters_are_refused():
    module = text("", "").replace(".param .u64 out", ".param .u64 out, .param .texref t")
    with pytest.raises(UnsupportedError, match=r"the parameter t of type \.texref"):
        build_program(parse(module, "k"), "k")
