"""What NVIDIA's libcuda exports, and which of our functions answers to each name.

cuda.h says the names; most have a version (cuMemFree_v2) or the form for per-thread default streams
(cuLaunchKernel_ptsz) behind that of the function, whose newest version numba_device/ has.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from ..source import nvcc
from .calls import CALLS
from .results import Result

_NAME = re.compile(r"\bcu[A-Z]\w*(?=\s*\()|(?<=\s)cu[A-Z]\w*_v\d+\b")
_FORM = re.compile(r"_(?:ptsz|ptds)$")
_VERSION = re.compile(r"_v\d+$")
_PER_THREAD = re.compile(r"__CUDA_API_PT(SZ|DS)\((cu\w+)\)")


@cache
def exported() -> tuple[str, ...]:
    """All names, in order."""
    names = set(CALLS)
    for root in nvcc.wheels():
        for header in root.glob("cu[0-9]*/include/cuda.h"):
            text = header.read_text("utf-8", "replace")
            names.update(_NAME.findall(text))
            names.update(f"{name}_pt{form.lower()}" for form, name in _PER_THREAD.findall(text))
    return tuple(sorted(names))


def answering(name: str) -> str | None:
    """The name that our function for an exported one has; None if there is none."""
    plain = _FORM.sub("", name)
    return next((one for one in (plain, _VERSION.sub("", plain)) if one in CALLS), None)


def addresses(address: Callable[[str], int | None]) -> Mapping[str, int]:
    """The address of what answers to each exported name; `address` knows those of our functions."""
    found: dict[str, int] = {}
    for name in exported():
        ours = answering(name)
        found[name] = (None if ours is None else address(ours)) or missing(name)
    return found


@cache
def missing(name: str) -> int:
    """The address of a function that says once that it is not supported."""
    told: set[str] = set()

    def called() -> int:
        if not told:
            told.add(name)
            sys.stderr.write(f"warpglass: {name} is not supported: it returns CUDA_ERROR_NOT_SUPPORTED\n")
        return Result.NOT_SUPPORTED

    _kept.append(ctypes.CFUNCTYPE(ctypes.c_int)(called))
    return ctypes.cast(_kept[-1], ctypes.c_void_p).value or 0


_kept: list[Any] = []  # what C calls must live as long as the process
