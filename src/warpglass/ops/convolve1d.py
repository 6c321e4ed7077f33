"""Convolution with a mask along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ladders.conv1d.fastest import plan
from ..ladders.plan import Plan
from .axes import axes_of, one_axis
from .calling import Operation, call
from .convolution import check_mode, convolve
from .convolve2d import launches as picture_launches
from .task import Draft, Operand


def convolve1d(
    x: Any, mask: Any, axis: int = -1, mode: str = "same", out: Any = None, device: str | None = None
) -> Any:
    """Convolve `x` with the weights of `mask` along an axis; elements beyond its ends count as 0.

    y[i] is the sum of x[i - k + c] * mask[k] over k. With mode "full" c is 0 and the result has len(mask) - 1
    more elements than `x`; "same" is the middle of that with the extent of `x`, c = (len(mask) - 1) // 2; and
    "valid" is the part without elements beyond the ends. For vectors it is what np.convolve(x, mask, mode)
    gives, `mask` being no longer than `x`. The type is that of NumPy's promotion; integers wrap, float16 is
    added up in float32.

    Raises ArgumentError for masks that are no vectors and axes that `x` does not have.
    """
    return call(CONVOLVE, (x, mask), (axes_of(axis), check_mode("convolve1d", mode)), out, device)


def make(draft: Draft, x: Operand, mask: Operand, axis: int, mode: str) -> None:
    """A vector by its ladder, many rows or columns as pictures with a mask of one row or one column."""
    if mask.ndim != 1 or not mask.size:
        raise ArgumentError(f"mask has shape {mask.shape}; it must be a vector of at least one weight")
    if not x.ndim:
        raise ArgumentError("x is a single number; it must have an axis")
    along = one_axis(x, axis)
    if x.ndim == 1:
        convolve(draft, x, mask, (1, mask.size), mode, _vector)
        return
    if along < x.ndim - 2:
        raise ArgumentError(
            f"axis {axis}: one of the last two axes of x can be convolved; move it there first"
        )
    window = (1, mask.size) if along == x.ndim - 1 else (mask.size, 1)
    convolve(draft, x, mask, window, mode, picture_launches)


def _vector(shape: tuple[int, int], window: tuple[int, int], dtype: np.dtype[Any]) -> Plan:
    return plan(shape[1], window[1], dtype)


CONVOLVE = Operation("convolve1d", ("x", "mask"), make)
