"""Extended-precision arithmetic (PTX manual, "Extended-Precision Integer Arithmetic Instructions").

Chains of these compute with integers wider than a register. The carry stands in the condition code register;
no operand names it, so rows declare that they use it. A subtraction adds the complement: it leaves a carry
where it did not borrow. The manual speaks of a borrow, which comes to the same within a chain of
subtractions, but NVRTC's 128-bit division reads with addc what subc.cc left.
"""

from __future__ import annotations

from typing import TypeVar

from .lanes import Lanes
from .table import CARRY, Match, row
from .types import is_signed

V = TypeVar("V")

_TYPES = "u32 s32 u64 s64"


def _add(lanes: Lanes[V], a: V, b: V, carry: V | None = None) -> tuple[V, V]:
    """a + b + carry, and the carry out of it."""
    total = lanes.add(a, b)
    out = lanes.compare("ult", total, a)
    if carry is None:
        return total, out
    whole = lanes.add(total, lanes.extend(carry, lanes.type_of(a), signed=False))
    return whole, lanes.or_(out, lanes.compare("ult", whole, total))


def _subtract(lanes: Lanes[V], a: V, b: V, carry: V | None = None) -> tuple[V, V]:
    """a - b - 1 + carry, and the carry out of it."""
    rest = lanes.sub(a, b)
    out = lanes.compare("uge", a, b)
    if carry is None:
        return rest, out
    whole = lanes.sub(rest, lanes.extend(lanes.not_(carry), lanes.type_of(a), signed=False))
    return whole, lanes.and_(out, lanes.compare("uge", rest, whole))


def _product(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    """The half of a * b that the instruction adds to."""
    return lanes.multiply_high(a, b, is_signed(m.type)) if m.half == "hi" else lanes.mul(a, b)


@row("add.cc.type  d, a, b", type=_TYPES, unit="integer", writes=CARRY)
def add_cc(lanes: Lanes[V], m: Match, a: V, b: V) -> tuple[V, V]:
    return _add(lanes, a, b)


@row("addc.type  d, a, b", type=_TYPES, unit="integer", reads=CARRY)
def addc(lanes: Lanes[V], m: Match, a: V, b: V, carry: V) -> V:
    return _add(lanes, a, b, carry)[0]


@row("addc.cc.type  d, a, b", type=_TYPES, unit="integer", reads=CARRY, writes=CARRY)
def addc_cc(lanes: Lanes[V], m: Match, a: V, b: V, carry: V) -> tuple[V, V]:
    return _add(lanes, a, b, carry)


@row("sub.cc.type  d, a, b", type=_TYPES, unit="integer", writes=CARRY)
def sub_cc(lanes: Lanes[V], m: Match, a: V, b: V) -> tuple[V, V]:
    return _subtract(lanes, a, b)


@row("subc.type  d, a, b", type=_TYPES, unit="integer", reads=CARRY)
def subc(lanes: Lanes[V], m: Match, a: V, b: V, carry: V) -> V:
    return _subtract(lanes, a, b, carry)[0]


@row("subc.cc.type  d, a, b", type=_TYPES, unit="integer", reads=CARRY, writes=CARRY)
def subc_cc(lanes: Lanes[V], m: Match, a: V, b: V, carry: V) -> tuple[V, V]:
    return _subtract(lanes, a, b, carry)


@row("mad.half.cc.type  d, a, b, c", half="lo hi", type=_TYPES, unit="integer", writes=CARRY)
def mad_cc(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> tuple[V, V]:
    return _add(lanes, _product(lanes, m, a, b), c)


@row("madc.half.type  d, a, b, c", half="lo hi", type=_TYPES, unit="integer", reads=CARRY)
def madc(lanes: Lanes[V], m: Match, a: V, b: V, c: V, carry: V) -> V:
    return _add(lanes, _product(lanes, m, a, b), c, carry)[0]


@row("madc.half.cc.type  d, a, b, c", half="lo hi", type=_TYPES, unit="integer", reads=CARRY, writes=CARRY)
def madc_cc(lanes: Lanes[V], m: Match, a: V, b: V, c: V, carry: V) -> tuple[V, V]:
    return _add(lanes, _product(lanes, m, a, b), c, carry)
