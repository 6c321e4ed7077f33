"""The transpose of an array, as a new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ladders.problem import C_NAMES
from ..ladders.transpose.word_tile import plan
from .axes import axes_of, one_axis, permuted
from .calling import Operation, call
from .task import Draft, Operand
from .types import HALF


def transpose(x: Any, axes: Sequence[int] | None = None, out: Any = None, device: str | None = None) -> Any:
    """A packed copy of `x` with its axes reversed, or in the order of `axes`, as np.transpose orders them.

    NumPy returns a view; here the elements move, which is what the kernels that follow want. Of booleans and
    numbers of all types.

    Raises ArgumentError for axes that are no order of those of `x`.
    """
    return call(TRANSPOSE, (x,), (axes_of(axes),), out, device)


def make(draft: Draft, x: Operand, axes: tuple[int, ...] | None) -> None:
    """Matrices by the ladder's kernel, other orders by a plain copy."""
    order = tuple(reversed(range(x.ndim))) if axes is None else _order(x, axes)
    moved = permuted(x, order)
    result = draft.result(moved.shape, x.dtype)
    if x.ndim == 2 and order == (1, 0) and x.dtype.kind != "b" and x.strides is None and x.size:
        rows, columns = x.shape
        draft.follow(plan(rows, columns, _moved_as(x.dtype)), a=x.name, b=result)
    else:
        draft.copy(moved, result, x.dtype)


def _moved_as(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A type of the same size that the ladder's kernel has; nothing is computed."""
    return dtype if dtype.name in C_NAMES and dtype != HALF else np.dtype(f"u{dtype.itemsize}")


def _order(x: Operand, axes: tuple[int, ...] | int) -> tuple[int, ...]:
    found = tuple(one_axis(x, one) for one in ((axes,) if isinstance(axes, int) else axes))
    if sorted(found) != list(range(x.ndim)):
        raise ArgumentError(f"axes {axes}: x has the axes 0 to {x.ndim - 1}, each to be named once")
    return found


TRANSPOSE = Operation("transpose", ("x",), make)
