"""Bubble sort on the host: each comparison waits for the one before, so nothing can run side by side.

A walk carries the largest element to the end, and the next walk is one element shorter: n^2 / 2 comparisons.
The loops are compiled by numba, on one core.
"""

from collections.abc import Mapping
from typing import Any

from warpglass.ladders.oddeven_sort.host_loops import bubble_sort
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Rung


def host_bubble(case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Sort x in place."""
    bubble_sort(arrays["x"])
    return {"x": arrays["x"]}


RUNG = Rung(table="oddeven_sort", host=host_bubble)
