"""Functions that a Python kernel calls and others define: their PTX goes into the kernel's module.

Belongs here: putting PTX texts together, and CUDA C++ that the numba packages leave to a linker: their own
helpers (half precision, reshape), what `link=` and `declare_device` name, and the two functions of NVIDIA's
device runtime behind `grid.sync()`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import CompileError
from . import nvrtc

_EXTERN = r"\.extern\s+\.func\s*(?:\([^)]*\)\s*)?{name}\s*(?:\([^)]*\)\s*)?(?:\.noreturn\s*)?;"
_DEFINED = re.compile(r"^[^/\n]*\.func\s*(?:\([^)]*\)\s*)?([\w$]+)\s*(?:\([^)]*\)\s*)?[^;{]*\{", re.MULTILINE)
_HEADER = re.compile(r"^\s*\.(?:version|target|address_size)\b.*\n?", re.MULTILINE)
_VERSION = re.compile(r"^\s*\.version\s+(\d+)\.(\d+)", re.MULTILINE)
_ADDRESS_SIZE = re.compile(r"^\s*\.address_size\b.*\n", re.MULTILINE)

# Grids are synchronised through a workspace that the environment registers lead to, as in CUDA C++ kernels.
_GRID_SYNC = """
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++ it compiles 20 times as quickly
#include <cooperative_groups.h>
#define DEFINED extern "C" __device__ __attribute__((used))
DEFINED unsigned long long cudaCGGetIntrinsicHandle(unsigned scope) { return scope; }
DEFINED unsigned cudaCGSynchronize(unsigned long long handle, unsigned flags)
{
    cooperative_groups::this_grid().sync();
    return 0;
}
"""


@dataclass(frozen=True, slots=True)
class Code:
    """A text to be linked: PTX, or CUDA C++ if `language` is "cuda"; `name` is for messages."""

    name: str
    text: str
    language: str


def link(text: str, codes: Iterable[Code], target: str) -> str:
    """Return a kernel's PTX with the functions of `codes` and of the device runtime that it lacks.

    Raises CompileError for CUDA C++ that does not compile.
    """
    parts = [_ptx(code, target) for code in codes]
    if re.search(_EXTERN.format(name="cudaCG(?:Synchronize|GetIntrinsicHandle)"), text):
        parts.append(_ptx(Code("grid_sync.cu", _GRID_SYNC, "cuda"), target, "-rdc=false"))
    return _joined(text, parts) if parts else text


def _ptx(code: Code, target: str, linkage: str = "-rdc=true") -> str:
    if code.language == "ptx":
        return code.text
    includes = [f"-I{folder}" for folder in nvrtc.header_folders()]
    options = (f"-arch={target}", linkage, "-std=c++17", *includes)
    try:
        return nvrtc.compile_program(code.text, code.name, "", options).ptx
    except nvrtc.Refused as refusal:
        raise CompileError(f"{code.name}: CUDA C++ to be linked does not compile", refusal.errors) from None


def _joined(text: str, parts: Sequence[str]) -> str:
    """Put modules into the first: definitions take the place of its declarations."""
    newest = max(_VERSION.findall(one)[0] for one in (text, *parts))
    bodies = [_HEADER.sub("", part) for part in parts]
    for part in bodies:
        for name in _DEFINED.findall(part):
            text = re.sub(_EXTERN.format(name=re.escape(name)), "", text)
    text = _VERSION.sub(f".version {'.'.join(newest)}", text, count=1)
    start = _ADDRESS_SIZE.search(text)
    place = start.end() if start else 0
    return "\n".join([text[:place], *bodies, text[place:]])
