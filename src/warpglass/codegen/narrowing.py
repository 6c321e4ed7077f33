"""What a test that is known to hold, or not to, says of the registers that it is about.

It is said of the test's operands and of every register at a known distance from one (tracked.py).
"""

from __future__ import annotations

from .tracked import ZERO, Test, Tracked, bounds_of, limits, low_bits_of, make_tracked, signed
from .values import Value

_INVERSE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


class Impossible(Exception):
    """No value passes the test: control never comes this way."""


def narrow(state: dict[str, Tracked], test: Test, holds: bool) -> None:
    """Narrow a state by a test; raises Impossible."""
    if test.operation == "compare":
        predicate, a, b = test.operands
        assert isinstance(predicate, str)
        assert isinstance(a, Value)
        assert isinstance(b, Value)
        _compare(state, predicate, a, b, holds)
    elif test.operation == "not" and isinstance(test.operands[0], Test):
        narrow(state, test.operands[0], not holds)
    elif holds == (test.operation == "and"):  # all of an `and` hold, none of an `or` does
        for one in test.operands:
            if isinstance(one, Test):
                narrow(state, one, holds)


def _compare(state: dict[str, Tracked], predicate: str, a: Value, b: Value, holds: bool) -> None:
    relation = predicate[-2:]
    if not holds:
        relation = _INVERSE[relation]
    if relation in ("gt", "ge"):
        a, b, relation = b, a, {"gt": "lt", "ge": "le"}[relation]
    if relation == "eq":
        low, high = max(bounds_of(a)[0], bounds_of(b)[0]), min(bounds_of(a)[1], bounds_of(b)[1])
        _limit(state, a, low, high)
        _limit(state, b, low, high)
    elif relation == "ne":
        _exclude(state, a, b)
        _exclude(state, b, a)
    else:
        _order(state, a, b, int(relation == "lt"), unsigned=predicate[0] == "u")


def _exclude(state: dict[str, Tracked], a: Value, b: Value) -> None:
    """A value that is not a number at the end of its bounds."""
    low, high = bounds_of(a)
    if b.constant is not None and b.low is not None:
        _limit(state, a, low + (low == b.low), high - (high == b.low))


def _order(state: dict[str, Tracked], a: Value, b: Value, gap: int, *, unsigned: bool) -> None:
    """`a` is less than `b` by at least a gap."""
    if unsigned and bounds_of(b)[0] < 0:
        return
    # What is less than a number that is not negative, both read as unsigned, is not negative either.
    low = max(bounds_of(a)[0], 0) if unsigned else bounds_of(a)[0]
    _limit(state, a, low, bounds_of(b)[1] - gap)
    _limit(state, b, low + gap, bounds_of(b)[1])


def _limit(state: dict[str, Tracked], a: Value, low: int, high: int) -> None:
    """A value lies between two numbers, and so do others at their distance from it."""
    if low > high:
        raise Impossible
    if not isinstance(a, Tracked) or a.root <= ZERO:
        return
    least, greatest = limits(a.type)
    for name, value in state.items():
        if value.root != a.root or value.type != a.type:
            continue
        away = signed(value.distance - a.distance, a.type)
        if low + away < least or high + away > greatest:
            continue
        ends = bounds_of(value)
        both = max(ends[0], low + away), min(ends[1], high + away)
        if both[0] > both[1]:
            raise Impossible
        made = make_tracked(value.type, both, low_bits_of(value), value.root, value.distance)
        if made is None:
            raise Impossible
        state[name] = made
