"""Odd-even sort on the host: the same comparisons in an order in which neighbours are independent.

n phases of n / 2 comparisons, again n^2 / 2. The comparisons of a phase share no element, so a compiler may
do several at once, and threads may share them. This is the host of the notes' ratios. The loops are
compiled by numba, on one core.
"""

from collections.abc import Mapping
from typing import Any

from warpglass.ladders.oddeven_sort.host_loops import oddeven_sort
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Rung


def host_oddeven(case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Sort x in place."""
    oddeven_sort(arrays["x"])
    return {"x": arrays["x"]}


RUNG = Rung(table="oddeven_sort", follows="host_bubble", host=host_oddeven)
