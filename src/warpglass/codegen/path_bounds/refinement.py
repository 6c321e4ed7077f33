"""Refinement by branches: what a test that is known to hold, or not to, says of its registers.

It is said of the test's operands and of every register at a known distance from one (domain.py), of what
those were extended from or to, and of their products with constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..values.value import Value
from .domain import ZERO, AbstractInt, Key, Test, bounds_of, limits, low_bits_of, make_abstract, signed

_INVERSE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


class Impossible(Exception):
    """No value passes the test: control never comes this way."""


def refine(state: dict[str, AbstractInt], test: Test, holds: bool, keys: Sequence[Key]) -> None:
    """Refine a state by a test; `keys` say what each root stands for. Raises Impossible."""
    if test.operation == "compare":
        predicate, a, b = test.operands
        assert isinstance(predicate, str)
        assert isinstance(a, Value)
        assert isinstance(b, Value)
        _compare(_Refined(state, keys), predicate, a, b, holds)
    elif test.operation == "not" and isinstance(test.operands[0], Test):
        refine(state, test.operands[0], not holds, keys)
    elif holds == (test.operation == "and"):  # all of an `and` hold, none of an `or` does
        for one in test.operands:
            if isinstance(one, Test):
                refine(state, one, holds, keys)


def _compare(state: _Refined, predicate: str, a: Value, b: Value, holds: bool) -> None:
    relation = predicate[-2:]
    if not holds:
        relation = _INVERSE[relation]
    if relation in ("gt", "ge"):
        a, b, relation = b, a, {"gt": "lt", "ge": "le"}[relation]
    if relation == "eq":
        low, high = max(bounds_of(a)[0], bounds_of(b)[0]), min(bounds_of(a)[1], bounds_of(b)[1])
        state.limit(a, low, high)
        state.limit(b, low, high)
    elif relation == "ne":
        _exclude(state, a, b)
        _exclude(state, b, a)
    else:
        _order(state, a, b, int(relation == "lt"), unsigned=predicate[0] == "u")


def _exclude(state: _Refined, a: Value, b: Value) -> None:
    """A value that is not a number at the end of its bounds."""
    low, high = bounds_of(a)
    if b.constant is not None and b.low is not None:
        state.limit(a, low + (low == b.low), high - (high == b.low))


def _order(state: _Refined, a: Value, b: Value, gap: int, *, unsigned: bool) -> None:
    """`a` is less than `b` by at least a gap."""
    if unsigned and bounds_of(b)[0] < 0:
        return
    # What is less than a number that is not negative, both read as unsigned, is not negative either.
    low = max(bounds_of(a)[0], 0) if unsigned else bounds_of(a)[0]
    state.limit(a, low, bounds_of(b)[1] - gap)
    state.limit(b, low + gap, bounds_of(b)[1])


class _Refined:
    """A state, and what the roots of its values stand for."""

    def __init__(self, state: dict[str, AbstractInt], keys: Sequence[Key]):
        self._state = state
        self._keys = keys

    def limit(self, a: Value, low: int, high: int) -> None:
        """A value lies between two numbers, and so do others that follow from it."""
        if low > high:
            raise Impossible
        if not isinstance(a, AbstractInt) or a.root <= ZERO:
            return
        self._limit_root(a, low, high)
        least, greatest = limits(a.type)
        low, high = low - a.distance, high - a.distance
        if least <= low and high <= greatest:
            self._limit_source(a, low, high)
            self._limit_extended(a, low, high)
            self._limit_products(a, low, high)

    def _limit_root(self, a: AbstractInt, low: int, high: int) -> None:
        """Limit all values at known distances from one."""
        least, greatest = limits(a.type)
        for name, value in self._state.items():
            if value.root != a.root or value.type != a.type:
                continue
            away = signed(value.distance - a.distance, a.type)
            if low + away < least or high + away > greatest:
                continue
            ends = bounds_of(value)
            both = max(ends[0], low + away), min(ends[1], high + away)
            if both[0] > both[1]:
                raise Impossible
            made = make_abstract(value.type, both, low_bits_of(value), value.root, value.distance)
            if made is None:
                raise Impossible
            self._state[name] = made

    def _limit_source(self, a: AbstractInt, low: int, high: int) -> None:
        """A value's root lies between two numbers: so does what it was extended from, if it was."""
        source = _extended(self._keys[a.root], low, high)
        if source is not None:
            least, greatest = limits(source.type)
            self._limit_root(source, max(low, least), min(high, greatest))

    def _limit_products(self, a: AbstractInt, low: int, high: int) -> None:
        """A value's root lies between two numbers: so do its products with constants, as its negation."""
        least, greatest = limits(a.type)
        for value in list(self._state.values()):
            key: Key = self._keys[value.root] if value.root > ZERO else ()
            if key[:3] != ("mul", a.type, a.root):
                continue
            ends = sorted((low * key[3], high * key[3]))
            if least <= ends[0] and ends[1] <= greatest:
                self._limit_root(replace(value, distance=0), *ends)

    def _limit_extended(self, a: AbstractInt, low: int, high: int) -> None:
        """A value's root lies between two numbers: so does what is an extension of a value with that root."""
        for value in list(self._state.values()):
            source = _extended(self._keys[value.root], low, high) if value.root > ZERO else None
            if source is None or source.root != a.root or source.type != a.type:
                continue
            least, greatest = limits(a.type)
            own = low + source.distance, high + source.distance
            if (
                least <= own[0]
                and own[1] <= greatest
                and (own[0] >= 0 or self._keys[value.root][0] == "sext")
            ):
                self._limit_root(replace(value, distance=0), *own)


def _extended(key: Key, low: int, high: int) -> AbstractInt | None:
    """What a root between two numbers is the extension of, if it is of a value that is the same number."""
    if key[0] not in ("sext", "zext") or key[1] != "i64":
        return None
    if key[0] == "zext" and high > limits("i32")[1]:
        return None
    _, _, root, *distance = key
    return AbstractInt("i32", "", root=root, distance=distance[0] if distance else 0)
