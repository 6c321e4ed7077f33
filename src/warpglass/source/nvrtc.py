"""The call into NVRTC, NVIDIA's runtime compiler for CUDA C++, and the reading of its log.

Belongs here: one function that turns text into PTX, CUDA's header folders, and what NVRTC says when it
refuses. NVRTC runs in a process of its own (nvrtc_call.py); it needs neither a GPU nor a driver. Which entry
is wanted, what is cached and what the user gets to read is cuda.py's business.
"""

from __future__ import annotations

import importlib.util
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ..errors import CompileError, Diagnostic
from .apart import Apart, FailedApart
from .cache import versions

WHEELS = ("nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-cuda-crt", "nvidia-cuda-cccl")
CURAND = "nvidia-curand"  # whoever includes cuRAND's device headers installs it
_NVRTC = Apart(Path(__file__).with_name("nvrtc_call.py"), "compile_program")
NAME_MAP = "__nv_name_map"  # the file that NVRTC blames for a bad name expression

# Headers that kernels' files include out of habit and that NVRTC lacks. What the host's C library declares is
# built in (printf, assert, sqrt) or small enough to state.
_FIXED_INTEGERS = "".join(
    f"using {name}{bits}_t = {kind};\n"
    for bits, signed in ((8, "signed char"), (16, "short"), (32, "int"), (64, "long long"))
    for name, kind in (("int", signed), ("uint", f"unsigned {signed.removeprefix('signed ')}"))
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
        ("M_LN2", math.log(2)),
        ("M_LOG2E", math.log2(math.e)),
    )
)
# Macros that nvcc's programs have without including anything, as it includes cuda_runtime.h, which
# includes the C library's headers. They are defined for programs that miss them: libcu++ defines some itself.
_IMPLICIT = dict(re.findall(r"#define (\w+) (.*)", _LIMITS + _CONSTANTS)) | {
    "INFINITY": "__builtin_bit_cast(float, 0x7f800000)",
    "HUGE_VALF": "__builtin_bit_cast(float, 0x7f800000)",
    "HUGE_VAL": "((double)__builtin_bit_cast(float, 0x7f800000))",
    "NAN": "__builtin_bit_cast(float, 0x7fc00000)",
    "RAND_MAX": "2147483647",
}
_UNDEFINED = re.compile(r'identifier "(\w+)" is undefined')
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

_MESSAGE = re.compile(
    r"^(?P<file>.+?)\((?P<line>\d+)\): (?:(?P<rank>(?:catastrophic )?error|warning|remark)"
    r"(?: #(?P<number>[\w-]+))?: )(?P<text>.*)$"
)


@dataclass(frozen=True, slots=True)
class Result:
    """PTX, the mangled name of the name expression ("" if there was none) and the compiler's remarks."""

    ptx: str
    lowered: str
    warnings: tuple[Diagnostic, ...]


class Refused(Exception):
    """NVRTC did not compile the program; `errors` and `warnings` are its log."""

    def __init__(self, errors: tuple[Diagnostic, ...], warnings: tuple[Diagnostic, ...], log: str):
        self.errors, self.warnings, self.log = errors, warnings, log
        super().__init__(log)


def version() -> str | None:
    """Return the versions of the wheels that a compilation reads, None if the compiler's is unknown."""
    return versions(*WHEELS, CURAND)


def header_folders() -> tuple[str, ...]:
    """Return the folders of CUDA's own headers, from the wheels; () if they are not installed."""
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec else []
    for root in roots:
        for include in sorted(Path(root).glob("cu[0-9]*/include"), reverse=True):
            if (include / "cuda_fp16.h").exists():
                return (str(include), str(include / "cccl"))
    return ()


def compile_program(
    text: str,
    file: str,
    expression: str,
    options: tuple[str, ...],
    stand_ins: Mapping[str, str] = MappingProxyType({}),
) -> Result:
    """Compile `text`, which NVRTC takes to be `file`; `expression` asks for an entry's mangled name.

    `stand_ins` are further headers and what they say.

    Raises Refused if NVRTC finds errors, CompileError if it is not there, takes too long or fails otherwise.
    """
    headers = {**stand_ins, **HOST_HEADERS}
    arguments = (text, file, expression, str(len(headers)), *headers, *headers.values(), *options)
    try:
        encoded = [part.encode(errors="surrogateescape") for part in arguments]
        status, said, ptx, lowered = _NVRTC.call(file, *encoded)
    except FailedApart as error:
        if error.kind == "ValueError":
            raise CompileError(f"{file}: {error}") from None
        raise _missing(error) from None
    log = said.decode(errors="replace").strip(" ")
    errors, remarks = parse_log(log)
    if status == b"NVRTC_ERROR_COMPILATION":
        missed = {name for error in errors for name in _UNDEFINED.findall(error.message)}
        own = tuple(f"-D{name}={_IMPLICIT[name]}" for name in sorted(missed & _IMPLICIT.keys()))
        if own and own[0] not in options:
            return compile_program(text, file, expression, (*options, *own), stand_ins)
        raise Refused(errors, remarks, log)
    if status:
        raise CompileError(f"{file}: NVRTC failed with {status.decode()}" + (f"\n{log}" if log else ""))
    if lowered == b"?":  # nothing of the text reached the compiler, as with UTF-16
        raise CompileError(f"{file}: no kernel {expression} was found; the file must be UTF-8 text")
    return Result(ptx.decode(errors="replace").strip(" "), lowered.decode(), remarks)


def _missing(error: FailedApart) -> CompileError:
    # cuda.pathfinder's DynamicLibNotFoundError is a RuntimeError: the bindings are there, the library is not
    reason = (
        "" if error.kind in ("ImportError", "ModuleNotFoundError") else f" ({str(error).splitlines()[0]})"
    )
    return CompileError(
        f"CUDA C++ needs NVIDIA's runtime compiler, which is not installed{reason}; "
        f"`pip install cuda-bindings {' '.join(WHEELS)}` (Linux and Windows; no GPU is needed)"
    )


def parse_log(log: str) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """Return the errors and the warnings of an NVRTC log.

    A message is `file(line): error: text`, then the source line indented by two, then a caret below.
    """
    errors, remarks = list[Diagnostic](), list[Diagnostic]()
    lines = log.splitlines()
    for index, line in enumerate(lines):
        match = _MESSAGE.match(line)
        if not match:
            continue
        follow = index + 1
        message = [match["text"]]
        while follow < len(lines) and lines[follow].startswith("      "):  # continuation of a long message
            if lines[follow].strip() == "^" or (follow + 1 < len(lines) and lines[follow + 1].strip() == "^"):
                break
            message.append(lines[follow].strip())
            follow += 1
        text, column = None, None
        if follow + 1 < len(lines) and lines[follow + 1].strip() == "^":
            text, column = lines[follow][2:], lines[follow + 1].index("^") - 1
        if match["number"]:
            message.append(f"[#{match['number']}]")
        found = Diagnostic(" ".join(message), match["file"], int(match["line"]), column, text)
        (errors if "error" in match["rank"] else remarks).append(found)
    return tuple(errors), tuple(remarks)
