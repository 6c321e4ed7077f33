"""Several small integers in one register: u16x2 and s16x2, dot products (video instructions: video.py)."""

from __future__ import annotations

from typing import TypeVar

from .lanes import Lanes
from .table import Match, Meaning, add_row, row
from .types import is_signed

V = TypeVar("V")


# ---------------------------------------------------------------------------------------- pairs of 16 bits
def _pairwise(operation: str) -> Meaning:
    """A meaning that acts on the two halves of its operands; `.relu` makes negative results zero."""

    def meaning(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
        halves = zip(lanes.split(a, 2), lanes.split(b, 2), strict=True)
        results = [lanes.apply(operation, x, y) for x, y in halves]
        if m.relu:
            results = [lanes.apply("llvm.smax", x, lanes.constant("i16", 0)) for x in results]
        return lanes.join(results)

    return meaning


add_row("add.type  d, a, b", type="u16x2 s16x2", unit="integer", meaning=_pairwise("add"))
for _name in ("min", "max"):
    _unsigned, _signed = _pairwise(f"llvm.u{_name}"), _pairwise(f"llvm.s{_name}")
    add_row(f"{_name}.type  d, a, b", type="u16x2", unit="integer", meaning=_unsigned)
    add_row(f"{_name}{{.relu}}.type  d, a, b", type="s16x2", unit="integer", meaning=_signed)


# ---------------------------------------------------------------------------------------- dot products
@row("dp4a.atype.btype  d:b32, a:b32, b:b32, c:b32", atype="u32 s32", btype="u32 s32", unit="integer")
def dp4a(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    return lanes.dot(c, a, b, is_signed(m.atype), is_signed(m.btype))


@row(
    "dp2a.half.atype.btype  d:b32, a:b32, b:b32, c:b32",
    half="lo hi",
    atype="u32 s32",
    btype="u32 s32",
    unit="integer",
)
def dp2a(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    bytes_ = lanes.split(b, 4)
    for x, y in zip(lanes.split(a, 2), bytes_[2:] if m.half == "hi" else bytes_[:2], strict=True):
        wide = lanes.extend(x, "i32", is_signed(m.atype)), lanes.extend(y, "i32", is_signed(m.btype))
        c = lanes.add(c, lanes.mul(*wide))
    return c
