"""Comparison of halves (PTX manual, "Half Precision Comparison Instructions": set, setp).

A pair is compared half by half: setp's two predicates are the low and the high half's, set gives a pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from .half import flush_half, unpack
from .lanes import Lanes
from .rounding import FORMATS, Format
from .table import Match, row

V = TypeVar("V")

# PTX's operators as LLVM's floating predicates.
_PREDICATES = {"eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_PREDICATES |= {"equ": "ueq", "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge"}
_PREDICATES |= {"num": "ord", "nan": "uno"}
_COMPARISONS = " ".join(_PREDICATES)
_COMBINE = "and or xor"
_ONE = {"f16": 0x3C00, "bf16": 0x3F80}


def _compare(lanes: Lanes[V], m: Match, f: Format, a: V, b: V) -> V:
    if m.ftz:
        a, b = flush_half(lanes, a, f), flush_half(lanes, b, f)
    return lanes.compare(_PREDICATES[m.values["cmp"]], unpack(lanes, a, f), unpack(lanes, b, f))


def _combine(lanes: Lanes[V], m: Match, compared: V, c: V | None) -> V:
    return compared if c is None else lanes.apply(m.values["bool"], compared, c)


_HALVES, _PAIRS = "f16 bf16", "f16x2 bf16x2"


@row("setp.cmp{.ftz}.half  p[|q]:pred, a, b", cmp=_COMPARISONS, half=_HALVES, unit="fp16")
@row(
    "setp.cmp.bool{.ftz}.half  p[|q]:pred, a, b, c:pred",
    cmp=_COMPARISONS,
    bool=_COMBINE,
    half=_HALVES,
    unit="fp16",
)
def setp_half(lanes: Lanes[V], m: Match, a: V, b: V, c: V | None = None) -> V | tuple[V, V]:
    compared = _compare(lanes, m, FORMATS[m.values["half"]], a, b)
    first = _combine(lanes, m, compared, c)
    return (first, _combine(lanes, m, lanes.not_(compared), c)) if m.has_pair else first


@row("setp.cmp{.ftz}.half  p[|q]:pred, a, b", cmp=_COMPARISONS, half=_PAIRS, unit="fp16")
@row(
    "setp.cmp.bool{.ftz}.half  p[|q]:pred, a, b, c:pred",
    cmp=_COMPARISONS,
    bool=_COMBINE,
    half=_PAIRS,
    unit="fp16",
)
def setp_pair(lanes: Lanes[V], m: Match, a: V, b: V, c: V | None = None) -> V | tuple[V, V]:
    low, high = (_combine(lanes, m, one, c) for one in _by_half(lanes, m, m.values["half"], a, b))
    return (low, high) if m.has_pair else low


def _by_half(lanes: Lanes[V], m: Match, type_: str, a: V, b: V) -> tuple[V, ...]:
    f = FORMATS[type_.removesuffix("x2")]
    halves = zip(lanes.split(a, 2), lanes.split(b, 2), strict=True)
    return tuple(_compare(lanes, m, f, x, y) for x, y in halves)


def _result(lanes: Lanes[V], dtype: str, condition: V) -> V:
    """True as a destination has it: all ones, or 1.0."""
    type_ = "i32" if dtype.endswith("32") else "i16"
    yes = lanes.constant(type_, _ONE.get(dtype, -1))
    return lanes.select(condition, yes, lanes.constant(type_, 0))


_WHOLE = "u16 s16 u32 s32"


def _other_format(values: Mapping[str, str]) -> str | None:
    """Why a result is none: 1.0 in one format of operands in the other; only bf16 of f16 exists."""
    dtype, half = values["dtype"], values["half"]
    if dtype[0] in "us" or dtype == half or (dtype, half) == ("bf16", "f16"):
        return None
    return f"the result of comparing .{half} is .{half}, .u32 or .s32"


@row("set.cmp{.ftz}.dtype.half  d:dtype, a:half, b:half", cmp=_COMPARISONS, dtype=f"{_WHOLE} f16 bf16",
     half=_HALVES, unit="fp16", excludes=_other_format)  # fmt: skip
@row("set.cmp.bool{.ftz}.dtype.half  d:dtype, a:half, b:half, c:pred", cmp=_COMPARISONS, bool=_COMBINE,
     dtype=f"{_WHOLE} f16 bf16", half=_HALVES, unit="fp16", excludes=_other_format)  # fmt: skip
def set_half(lanes: Lanes[V], m: Match, a: V, b: V, c: V | None = None) -> V:
    compared = _compare(lanes, m, FORMATS[m.values["half"]], a, b)
    return _result(lanes, m.values["dtype"], _combine(lanes, m, compared, c))


@row("set.cmp{.ftz}.dtype.half  d:dtype, a:half, b:half", cmp=_COMPARISONS, dtype="u32 s32 f16x2 bf16x2",
     half=_PAIRS, unit="fp16", excludes=_other_format)  # fmt: skip
@row("set.cmp.bool{.ftz}.dtype.half  d:dtype, a:half, b:half, c:pred", cmp=_COMPARISONS, bool=_COMBINE,
     dtype="u32 s32 f16x2 bf16x2", half=_PAIRS, unit="fp16", excludes=_other_format)  # fmt: skip
def set_pair(lanes: Lanes[V], m: Match, a: V, b: V, c: V | None = None) -> V:
    one = m.values["dtype"].removesuffix("x2") if m.values["dtype"].endswith("x2") else "u16"
    halves = _by_half(lanes, m, m.values["half"], a, b)
    return lanes.join(tuple(_result(lanes, one, _combine(lanes, m, half, c)) for half in halves))
