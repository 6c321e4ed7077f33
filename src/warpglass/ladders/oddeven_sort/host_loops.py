"""The two sorts of the course notes as plain loops on the host, compiled by numba as a C compiler would.

The outer loops stay in Python: they can be interrupted, and cost nothing beside what they call.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from ..problem import Array


@njit(cache=True, inline="always")
def _comes_after(a: Any, b: Any) -> Any:
    return not a <= b and b == b  # NaN comes after every number


@njit(cache=True)
def _carry_largest(x: Any, count: Any) -> None:
    """Walk through the first `count` elements; the largest arrives at their end."""
    for k in range(count - 1):
        if _comes_after(x[k], x[k + 1]):
            x[k], x[k + 1] = x[k + 1], x[k]


@njit(cache=True)
def compare_pairs(x: Any, first: Any) -> None:
    """Put the pairs (first, first + 1), (first + 2, first + 3), ... in order: one phase of odd-even sort."""
    for k in range(first, x.size - 1, 2):
        if _comes_after(x[k], x[k + 1]):
            x[k], x[k + 1] = x[k + 1], x[k]


def bubble_sort(x: Array) -> None:
    """Sort in place: n - 1 walks, each one element shorter than the one before."""
    for count in range(x.size, 1, -1):
        _carry_largest(x, count)


def oddeven_sort(x: Array) -> None:
    """Sort in place: n phases."""
    for phase in range(x.size):
        compare_pairs(x, phase % 2)
