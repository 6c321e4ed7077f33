"""What NVRTC lacks of the host's headers, as far as kernels use it.

Files include some out of habit, and nvcc includes some for all. What the host's C library declares is built
in (printf, assert, sqrt) or small enough to state.
"""

from __future__ import annotations

import math
import re

_INTEGERS = ((8, "char"), (16, "short"), (32, "int"), (64, "long long"))
_FIXED_INTEGERS = "".join(
    f"using {name}{bits}_t = {sign} {kind};\n"
    for bits, kind in _INTEGERS
    for name, sign in (("int", "signed"), ("uint", "unsigned"))
)
_STD_INTEGERS = "".join(f"using ::{u}int{bits}_t;" for u in ("", "u") for bits in (8, 16, 32, 64))
_LIMITS = """
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define LONG_MIN (-9223372036854775807l - 1)
#define LONG_MAX 9223372036854775807l
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MIN (-9223372036854775807ll - 1)
#define LLONG_MAX 9223372036854775807ll
#define ULLONG_MAX 18446744073709551615ull
"""
_FLOATS = """
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
"""
_CONSTANTS = "".join(
    f"#ifndef {name}\n#define {name} {value!r}\n#endif\n"
    for name, value in (
        ("M_PI", math.pi),
        ("M_PI_2", math.pi / 2),
        ("M_PI_4", math.pi / 4),
        ("M_E", math.e),
        ("M_SQRT2", math.sqrt(2)),
        ("M_SQRT1_2", math.sqrt(0.5)),
        ("M_1_PI", 1 / math.pi),
        ("M_2_PI", 2 / math.pi),
        ("M_2_SQRTPI", 2 / math.sqrt(math.pi)),
        ("M_LN2", math.log(2)),
        ("M_LN10", math.log(10)),
        ("M_LOG2E", math.log2(math.e)),
        ("M_LOG10E", math.log10(math.e)),
    )
)
_CUDA_STD = "#include <cuda/std/{0}>\nnamespace std {{ using namespace cuda::std; }}\n"
# CUB's umbrella header also brings its functions for whole devices, which are the host's to call and which
# NVRTC refuses. This one has the parts that kernels are made of, as far as the installed CUB has them.
_CUB = {
    "block": "adjacent_difference discontinuity exchange histogram load merge_sort radix_rank radix_sort "
    "reduce run_length_decode scan shuffle store",
    "grid": "even_share mapping queue",
    "thread": "load operators reduce scan search sort store",
    "warp": "exchange load merge_sort reduce scan store",
}
_CUB_HEADERS = (
    *(f"{part}/{part}_{name}.cuh" for part, names in _CUB.items() for name in names.split()),
    *(f"iterator/cache_modified_{way}_iterator.cuh" for way in ("input", "output")),
    *(f"util_{name}.cuh" for name in ("ptx", "type")),
)
HOST_HEADERS = {
    "cub/cub.cuh": "#pragma once\n"
    + "".join(f"#if __has_include(<cub/{one}>)\n#include <cub/{one}>\n#endif\n" for one in _CUB_HEADERS),
    "stdint.h": "#pragma once\n" + _FIXED_INTEGERS,
    "cstdint": f"#include <stdint.h>\nnamespace std {{ {_STD_INTEGERS} }}\n",
    "stdio.h": "",
    "cstdio": "",
    "assert.h": "",
    "cassert": "",
    "math.h": _CONSTANTS,
    "cmath": _CONSTANTS + _CUDA_STD.format("cmath"),
    "stddef.h": "",
    "cstddef": _CUDA_STD.format("cstddef"),
    "limits.h": _LIMITS,
    "climits": "#include <limits.h>\n",
    "float.h": _FLOATS,
    "cfloat": "#include <float.h>\n",
    "limits": _CUDA_STD.format("limits"),
    "type_traits": _CUDA_STD.format("type_traits"),
    "utility": _CUDA_STD.format("utility"),
}

_MACROS = dict(re.findall(r"#define (\w+) (.*)", _LIMITS + _CONSTANTS)) | {
    "INFINITY": "__builtin_bit_cast(float, 0x7f800000)",
    "HUGE_VALF": "__builtin_bit_cast(float, 0x7f800000)",
    "HUGE_VAL": "((double)__builtin_bit_cast(float, 0x7f800000))",
    "NAN": "__builtin_bit_cast(float, 0x7fc00000)",
    "MAXFLOAT": "3.402823466e+38f",
    **{f"FP_{name}": str(k) for k, name in enumerate(("NAN", "INFINITE", "ZERO", "SUBNORMAL", "NORMAL"))},
    **{f"__{name}__": value for name, value in re.findall(r"#define (\w+) (.*)", _FLOATS)},
    "RAND_MAX": "2147483647",
    "EOF": "(-1)",
    "CLOCKS_PER_SEC": "1000000l",
}
_SIGNS = (("int", "signed"), ("u_int", "unsigned"))
_TYPES = {
    **{f"{name}{bits}_t": f"{sign} {kind}" for bits, kind in _INTEGERS for name, sign in _SIGNS},
    **{f"u_{kind}": f"unsigned {kind}" for kind in ("char", "short", "int", "long")},
    **{f"u{kind}": f"unsigned {kind}" for kind in ("short", "int", "long")},
    "ssize_t": "long",
}
# What says a name that nvcc's programs have without including anything, as it includes cuda_runtime.h, which
# includes headers of the host's C library; in this order, as "std", for functions of <cmath>, has some, too.
IMPLICIT = (
    {"std": HOST_HEADERS["cmath"]}
    | {name: f"#ifndef {name}\n#define {name} {value}\n#endif\n" for name, value in _MACROS.items()}
    | {name: f"typedef {kind} {name};\n" for name, kind in _TYPES.items()}
)
