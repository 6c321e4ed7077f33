"""The two sorts of the course notes as plain loops on the host, compiled by numba as a C compiler would.

The outer loops stay in Python: they can be interrupted, and cost nothing beside what they call. Numba is
imported when something is sorted, not when rungs are listed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ..problem import Array


def carry_largest(x: Any, count: Any) -> None:
    """Walk through the first `count` elements; the largest arrives at their end."""
    for k in range(count - 1):
        a, b = x[k], x[k + 1]
        if not a <= b and b == b:  # NaN comes after every number
            x[k], x[k + 1] = b, a


def compare_pairs(x: Any, first: Any) -> None:
    """Put the pairs (first, first + 1), (first + 2, first + 3), ... in order: one phase of odd-even sort."""
    for k in range(first, x.size - 1, 2):
        a, b = x[k], x[k + 1]
        if not a <= b and b == b:
            x[k], x[k + 1] = b, a


@cache
def _native(function: Callable[..., None]) -> Callable[..., None]:
    from numba import njit

    compiled: Callable[..., None] = njit(cache=True)(function)
    return compiled


def bubble_sort(x: Array) -> None:
    """Sort in place: n - 1 walks, each one element shorter than the one before."""
    walk = _native(carry_largest)
    for count in range(x.size, 1, -1):
        walk(x, count)


def oddeven_sort(x: Array) -> None:
    """Sort in place: n phases."""
    phase = _native(compare_pairs)
    for number in range(x.size):
        phase(x, number % 2)
