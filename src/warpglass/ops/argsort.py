"""The order that sorts an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ladders.sort.radix import Request
from .axes import axes_of, rows_along
from .calling import Operation, call
from .sort import launches
from .task import Draft, Operand

_INDEX = np.dtype(np.int64)


def argsort(x: Any, axis: Any = -1, out: Any = None, device: str | None = None) -> Any:
    """The indices (int64) that sort `x` along `axis`, or all elements where it is None.

    As np.argsort with kind="stable": equal elements, and zeros of both signs, keep their order; NaN comes
    last.

    Raises ArgumentError for an axis that `x` does not have.
    """
    return call(ARGSORT, (x,), (axes_of(axis),), out, device)


def make(draft: Draft, x: Operand, axis: int | None) -> None:
    """As sort, with indices that go along with the elements."""
    rows = rows_along(x, axis)
    result = draft.result(rows.shape, _INDEX)
    if x.size:
        target = rows.target(draft, result, _INDEX)
        request = Request(rows.n, x.dtype, rows=x.size // rows.n, indices="order")
        draft.follow(launches(draft, request), x=draft.packed(rows.operand), order=target)
        rows.move_back(draft, target, result, _INDEX)


ARGSORT = Operation("argsort", ("x",), make)
