"""The functions of the CUDA runtime that kernels call (CUDA C++ Programming Guide, "Formatted Output",
"Dynamic Global Memory Allocation and Operations", "Assertion").

program/calls.py makes `_call.NAME` of a call of an external function; a row here is all that it needs to be
known. What the function does, the engine says (engine/cpu/system.py).
"""

from __future__ import annotations

from typing import TypeVar

from .lanes import Lanes
from .table import Match, row

V = TypeVar("V")


@row("_call.vprintf  d:b32, a:b64, b:b64", unit="control")
def vprintf(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.system("vprintf", "i32", (a, b))


@row("_call.malloc  d:b64, a:b64", unit="control")
def malloc(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.system("malloc", "i64", (a,))


@row("_call.free  a:b64", unit="control")
def free(lanes: Lanes[V], m: Match, a: V) -> None:
    lanes.system("free", "i64", (a,))


@row("_call.__assertfail  a:b64, b:b64, c:b32, e:b64, f:b64", unit="control")
def assertfail(lanes: Lanes[V], m: Match, a: V, b: V, c: V, e: V, f: V) -> None:
    lanes.system("__assertfail", "i64", (a, b, lanes.extend(c, "i64", signed=False), e, f))
