"""Loads that ask for what other warps load soon.

A loop that strides by the whole grid (`i += gridDim.x * blockDim.x`) goes on in another page at each turn.
There the processor has nothing to go by: it fetches ahead along a page, not from one to the next. But the
warps that run next go the same way a few lines further on. So each load asks for the lines that the warp
after the next will load there; they wait in the second cache or the third when it comes.
"""

from __future__ import annotations

from .builder import Builder

_WARPS = 2  # how far ahead: nearer lines often come along with those that are loaded
_LINE = 64


def fetch_ahead(b: Builder, host: str, size: int) -> None:
    """Lanes load `size` neighbouring bytes from `host`: ask for what lies as far ahead as others' lanes."""
    for line in range(0, size, _LINE):
        where = ("ptr", b.offset(host, _WARPS * size + line))
        b.call("void", "llvm.prefetch.p0", [where, ("i32", "0"), ("i32", "2"), ("i32", "1")])
