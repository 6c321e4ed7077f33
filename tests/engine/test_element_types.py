"""Arrays and values are held to the C++ types of parameters, however a type is declared."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import warpglass as wg

HEADERS = {"half": "cuda_fp16.h", "bfloat": "cuda_bf16.h", "complex": "cuda/std/complex"}
TYPES = """
typedef float real;
using Index = unsigned int;
struct Particle { float x, y, z; };
struct Gap { char c; double d; };
struct Hidden;
enum Colour { RED };
enum class Level : unsigned char { LOW };
template <class T> struct Pick { using type = T; };
#define GLOBAL_FLOATS const float *x
"""
F4, F8, I4, I8, U4, C8 = (np.zeros(8, one) for one in ("f4", "f8", "i4", "i8", "u4", "c8"))
PARTICLES = np.zeros(4, "f4,f4,f4")
# Parameter, what it takes, what it refuses.
POINTERS: dict[str, tuple[list[Any], list[Any]]] = {
    "const float *x": ([F4, F4.reshape(2, 4), PARTICLES, np.zeros(0, "f4")], [F8, I4, U4, C8, F4 > 0]),
    "float *__restrict__ x": ([F4], [F8]),
    "const volatile double *const __restrict__ x": ([F8], [F4, I8, C8]),
    "const real *x": ([F4], [F8]),
    "Pick<double>::type *x": ([F8], [F4]),
    "float x[]": ([F4], [F8]),
    "float (*x)[4]": ([F4.reshape(2, 4)], [F8.reshape(2, 4)]),
    "GLOBAL_FLOATS": ([F4], [F8]),
    "int *x": ([I4, U4], [I8, F4, np.zeros(4, "i2"), F4 > 0]),
    "Index *x": ([U4, I4], [I8, F4]),
    "short *x": ([np.zeros(4, "i2"), np.zeros(4, "u2")], [I4, np.zeros(4, "f2")]),
    "size_t *x": ([I8, np.zeros(4, "u8"), np.zeros(4, "M8[s]")], [I4, F8]),
    "long *x": ([I8], [I4]),
    "bool *x": ([F4 > 0, np.zeros(4, "u1")], [I4, F4]),
    "char *x": ([np.zeros(4, "u1"), np.zeros(4, "i1"), F8], []),
    "unsigned char *x": ([F4, I8], []),
    "void *x": ([F4, PARTICLES], []),
    "__half *x": ([np.zeros(4, "f2")], [np.zeros(4, "u2"), F4]),
    "__half2 *x": ([np.zeros(4, "f2")], [F4]),
    "__nv_bfloat16 *x": ([np.zeros(4, "u2")], [np.zeros(4, "f2"), F4]),
    "float4 *x": ([F4, F4.reshape(2, 4), C8, np.zeros(2, "f4,f4,f4,f4")], [F8, I4]),
    "double2 *x": ([F8, np.zeros(2, "c16")], [F4, C8]),
    "uchar4 *x": ([np.zeros(8, "u1"), I4], []),
    "uint2 *x": ([U4, I4], [F4]),
    "cuda::std::complex<float> *x": ([C8, F4], [F8, np.zeros(4, "c16")]),
    "Particle *x": ([PARTICLES, F4], [np.zeros(4, "f4,f4")]),
    "Gap *x": ([np.zeros(4, np.dtype("i1,f8", align=True))], [np.zeros(4, "i1,f8")]),
    "Hidden *x": ([F4, I8], []),
    "Colour *x": ([U4, I4], [F4, I8]),
    "Level *x": ([np.zeros(4, "u1")], []),
    "float **x": ([np.zeros(2, "u8")], [F4]),
}
VALUES: dict[str, tuple[list[Any], list[Any]]] = {
    "char x": ([-128, 255, np.int8(3)], [300, -129, 2.5]),
    "signed char x": ([-128, 127], [128]),
    "unsigned char x": ([255], [256, -1]),
    "int x": ([2**31 - 1, np.int64(5), True], [2**31, 2.5, np.float64(1), "7", F4]),
    "unsigned x": ([2**32 - 1, 0], [-1, 2**32]),
    "const Index x": ([7], [-1]),
    "short x": ([-5], [40000]),
    "unsigned long long x": ([2**64 - 1], [-1]),
    "bool x": ([True, 0, 1], [2, -1]),
    "Level x": ([255], [256]),
    "Colour x": ([0], [2**32]),
    "float x": ([1, 0.5, np.float64(2)], [1e39, True, 1j]),
    "__half x": ([1.5, np.float16(1.5), 2], ["1.5", 1j]),
    "__nv_bfloat16 x": ([1.5, 3], ["1.5"]),
    "float2 x": ([1 + 2j, (1, 2), np.complex64(1), np.zeros(2, "f4")], [(1, 2, 3), 1.0]),
    "int4 x": ([(1, 2, 3, 4), [1, 2, 3, 4], np.zeros(4, "i4").tobytes()], [(1, 2), (1.5, 2, 3, 4)]),
    "Particle x": ([PARTICLES[0], bytes(12)], [bytes(8), 1.0]),
}


@cache
def kernel(parameter: str, extern: bool) -> wg.Kernel:
    """An empty kernel with one parameter, of C or of C++ linkage."""
    linkage = 'extern "C" ' if extern else ""
    headers = "".join(f"#include <{header}>\n" for word, header in HEADERS.items() if word in parameter)
    return wg.compile(f"{headers}{TYPES}{linkage}__global__ void k({parameter}) {{}}", "k")


@pytest.mark.sampled(quick=8, ci=5)
@pytest.mark.parametrize("extern", [True, False], ids=["C", "C++"])
@pytest.mark.parametrize("parameter", [*POINTERS, *VALUES])
def test_arguments_agree_with_the_declaration(parameter: str, extern: bool) -> None:
    takes, refuses = {**POINTERS, **VALUES}[parameter]
    for value in takes:
        kernel(parameter, extern)[1, 1](value)
    for value in refuses:
        with pytest.raises(wg.ArgumentError, match=r"k: argument 1 of 1"):
            kernel(parameter, extern)[1, 1](value)


def test_the_refusal_names_parameter_types_and_the_way_round() -> None:
    add = wg.compile('extern "C" __global__ void add(const float *first, int n) {}', "add")
    with pytest.raises(wg.ArgumentError) as refusal:
        add[1, 1](np.zeros(3), 3)
    assert str(refusal.value) == (
        "add: argument 1 of 2 (first) got an array of float64 and shape (3,); a `const float *` points to "
        "float32: make the array with dtype=np.float32, or pass x.view(np.float32) if its bytes are meant"
    )
    add[1, 1](np.zeros(3).view(np.float32), 3)


def test_a_wrong_number_of_arguments_shows_the_declaration() -> None:
    add = wg.compile("__global__ void add(const float *first, int n, double (*rows)[2]) {}", "add")
    with pytest.raises(
        wg.ArgumentError, match=r"\(const float \*first, int n, double \(\*rows\)\[2\]\), got 1"
    ):
        add[1, 1](np.zeros(3, "f4"))


@pytest.mark.parametrize("name", ["sum<float>", "sum<double>", "inner::sum<float>"])
def test_template_parameters_are_known(name: str) -> None:
    text = "template <class T> __global__ void sum(const T *x) {}"
    source = text if "::" not in name else f"namespace inner {{ {text} }}"
    right, wrong = ("f4", "f8") if "float" in name else ("f8", "f4")
    wg.compile(source, name)[1, 1](np.zeros(2, right))
    with pytest.raises(wg.ArgumentError, match=r"\(x\) got an array"):
        wg.compile(source, name)[1, 1](np.zeros(2, wrong))


def test_a_mangled_name_in_ptx_tells_types() -> None:
    text = (
        "struct S; template <class T, int N> __global__ void f(const T *x, T *y, S *s, float4 *v, int n) {}"
    )
    compiled = wg.compile(text, "f<double, 3>").compile()
    again = wg.compile(compiled.ptx, compiled.entry, language="ptx")
    again[1, 1](F8, F8, I4, F4, 3)
    for number, args in ((1, (F4, F8, I4, F4, 3)), (2, (F8, I8, I4, F4, 3)), (4, (F8, F8, I4, F8, 3))):
        with pytest.raises(wg.ArgumentError, match=f"argument {number} of 5 got an array"):
            again[1, 1](*args)


@pytest.mark.parametrize("option", ["-std=c++11", "-G"])
def test_types_are_read_where_the_compiler_cannot_tell(option: str) -> None:
    text = "__global__ void k(const float *x, unsigned n) {}"
    for linkage in ("", 'extern "C" '):
        plain = wg.compile(linkage + text, "k", options=option)
        plain[1, 1](F4, 3)
        with pytest.raises(wg.ArgumentError, match=r"\(x\) got an array of float64"):
            plain[1, 1](F8, 3)
