"""Barriers of a block (PTX manual, "bar", "barrier", "bar.warp.sync").

`bar.sync 0` with every thread of the block, which is what __syncthreads and cuda.syncthreads become, has a
row of its own without a meaning: code generation knows a shorter way for it. Barriers with an id, a count or
a reduction arrive through the vocabulary; a reduction's result is collected when its warp goes on.
"""

from __future__ import annotations

from typing import TypeVar

from .lanes import Lanes
from .table import Match, add_row, row

V = TypeVar("V")


def sync(lanes: Lanes[V], m: Match, a: V, b: V | None = None) -> None:
    """Arrive and wait."""
    lanes.arrive(a, b, None, wait=True)


def arrive(lanes: Lanes[V], m: Match, a: V, b: V) -> None:
    """Arrive without waiting."""
    lanes.arrive(a, b, None, wait=False)


def sync_with(lanes: Lanes[V], m: Match, a: V, b: V, c: V | None = None) -> None:
    """Arrive with a predicate, the last operand, and wait."""
    lanes.arrive(a, None if c is None else b, b if c is None else c, wait=True)


def collect(lanes: Lanes[V], m: Match, a: V, b: V, c: V | None = None) -> V:
    """What the predicates of all threads that arrived come to."""
    true, everyone = lanes.barrier_votes(a)
    if m.op == "and":
        return lanes.compare("eq", true, everyone)
    return lanes.compare("ne", true, lanes.constant("i32", 0)) if m.op == "or" else true


for _head, _level in (("bar", "{.cta}"), ("barrier", "{.cta}")):
    _tail = "{.aligned}" if _head == "barrier" else ""
    add_row(f"{_head}{_level}.sync{_tail}  0", unit="control", control="barrier")
    add_row(f"{_head}{_level}.sync{_tail}  a:u32, {{b:u32}}", unit="control", control="barrier", meaning=sync)
    add_row(f"{_head}{_level}.arrive{_tail}  a:u32, b:u32", unit="control", control="arrive", meaning=arrive)
    for _operations, _type in (("popc", "u32"), ("and or", "pred")):
        for _operands in ("a:u32, b:pred", "a:u32, b:u32, c:pred"):
            add_row(
                f"{_head}{_level}.red{_tail}.op.type  d, {_operands}",
                op=_operations,
                type=_type,
                unit="control",
                control="barrier",
                meaning=sync_with,
                collect=collect,
            )


@row("bar.warp.sync  mask:b32", unit="control")
def sync_warp(lanes: Lanes[V], m: Match, mask: V) -> None:
    """Nothing is left to do: the lanes of a member mask meet in front of a step."""
