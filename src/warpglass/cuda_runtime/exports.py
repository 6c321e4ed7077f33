"""What NVIDIA's libcudart exports, by release, and which function of ours answers to each name.

exports.txt has a line for each function: its name, the release if only one has it, and the forms for
per-thread default streams (ptsz, ptds) that are exported beside it. Names with a version (_v2) are CUDA 12's
for what 13 calls without one; what 12 calls without one is then a function whose name ends in _12 (calls.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ..numba_device.calls import Call, Int
from .calls import CALLS, OF_RELEASE_12
from .results import Status
from .runtime import Runtime

RELEASES = (12, 13)
OURS = ("__cudaRegisterLinkedBinary",)  # what ours exports besides
_VERSIONED = re.compile(r"_v\d+$")
_FORM = re.compile(r"_(?:ptsz|ptds)$")


@cache
def exported(release: int) -> tuple[str, ...]:
    """All names that the library of a release exports."""
    found: list[str] = []
    for line in Path(__file__).with_name("exports.txt").read_text("utf-8").splitlines():
        name, *marks = line.split()
        releases = [mark for mark in marks if mark.isdecimal()]
        if not releases or str(release) in releases:
            found += [name, *(f"{name}_{mark}" for mark in marks if mark.startswith("pt"))]
    return (*found, *OURS)


def plain(name: str) -> str:
    """A function's name without the form for per-thread default streams."""
    return _FORM.sub("", name)


def answering(name: str, release: int) -> Call | None:
    """The function of ours behind an exported name; None if there is none."""
    base = plain(name)
    if release == 12 and base in OF_RELEASE_12:
        return OF_RELEASE_12[base]
    return CALLS.get(base) or CALLS.get(_VERSIONED.sub("", base))


def table(release: int) -> Mapping[str, Call]:
    """A function for each exported name."""
    return {name: answering(name, release) or _missing(plain(name)) for name in exported(release)}


@cache
def _missing(name: str) -> Call:
    def called(runtime: Runtime) -> Int:
        runtime.missing(name)
        return runtime.failed(Status.NOT_SUPPORTED)

    called.__name__ = name
    return Call(called, anywhere=True)
