"""Division defined for every operand, in terms of the vocabulary; LLVM's is not for 0, nor for the least
integer by -1."""

from __future__ import annotations

from collections.abc import Callable

from ...isa import Lanes
from .value import Value, replace


def total_division(
    lanes: Lanes[Value], operation: str, a: Value, b: Value, plain: Callable[[Value, Value], Value]
) -> Value:
    """A quotient or a remainder; `plain` makes one of a divisor that LLVM's is defined for."""
    signed, remainder = operation[0] == "s", operation.endswith("rem")
    zero, ones = lanes.constant(a.type, 0), lanes.constant(a.type, -1)
    by_zero = lanes.compare("eq", b, zero)
    unsafe = lanes.or_(by_zero, lanes.compare("eq", b, ones)) if signed else by_zero
    found = plain(a, lanes.select(unsafe, lanes.constant(a.type, 1), b))
    if signed:
        by_minus_one = zero if remainder else lanes.neg(a)
        found = lanes.select(lanes.compare("eq", b, ones), by_minus_one, found)
    return lanes.select(by_zero, ones, found)


def tested_divisor(b: Value) -> Value:
    """A divisor as the test for zero may take it.

    A register's bounds are those of what was written to it. Lanes that do not act, and programs that read
    what they never wrote, may hold 0, by which an integer division ends the process; so the test for it must
    stay, except where the quotient goes through double precision.
    """
    if b.constant is None and (b.uniform or b.type != "i32"):
        return replace(b, low=None, high=None)
    return b
