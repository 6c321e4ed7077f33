"""Sorting, along an axis or all elements."""

from __future__ import annotations

from typing import Any

from ..ladders.plan import Plan
from ..ladders.sort.radix import Request
from ..ladders.sort.radix_sort import plan
from .axes import axes_of, rows_along
from .calling import Operation, call
from .task import Draft, Operand


def sort(x: Any, axis: Any = -1, out: Any = None, device: str | None = None) -> Any:
    """The elements of `x` in ascending order along `axis`, of all where it is None, as np.sort.

    NaN comes last. The sort is stable: zeros of both signs keep their order. Of booleans and numbers of all
    types.

    Raises ArgumentError for an axis that `x` does not have.
    """
    return call(SORT, (x,), (axes_of(axis),), out, device)


def make(draft: Draft, x: Operand, axis: int | None) -> None:
    """Rows by the ladder's plan; another axis is moved to the end before, and back after."""
    rows = rows_along(x, axis)
    result = draft.result(rows.shape, x.dtype)
    if x.size:
        target = rows.target(draft, result, x.dtype)
        request = Request(rows.n, x.dtype, rows=x.size // rows.n, sorted_keys="y")
        draft.follow(launches(draft, request), x=draft.packed(rows.operand), y=target)
        rows.move_back(draft, target, result, x.dtype)


def launches(draft: Draft, request: Request) -> Plan:
    """The plan of a sort with the parameters measured here."""
    return plan(request, **draft.tuned("sort", "onesweep", request.dtype))


SORT = Operation("sort", ("x",), make)
