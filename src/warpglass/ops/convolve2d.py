"""Convolution with a mask of rows and columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ladders.conv2d.rolling_rows import plan
from ..ladders.plan import Plan
from .calling import Operation, call
from .convolution import check_mode, convolve
from .task import Draft, Operand, renamed


def convolve2d(x: Any, mask: Any, mode: str = "same", out: Any = None, device: str | None = None) -> Any:
    """Convolve pictures, the last two axes of `x`, with a mask; elements beyond a picture count as 0.

    As scipy.signal.convolve2d(x, mask, mode, boundary="fill"): "full" has all elements that a weight meets,
    "same" the middle of them with the shape of `x`, "valid" those without elements beyond the picture. The
    type is that of NumPy's promotion; integers wrap, float16 is added up in float32.

    Raises ArgumentError for other shapes.
    """
    return call(CONVOLVE, (x, mask), (check_mode("convolve2d", mode),), out, device)


def make(draft: Draft, x: Operand, mask: Operand, mode: str) -> None:
    """The ladder's kernel, picture by picture."""
    if x.ndim < 2 or mask.ndim != 2:
        raise ArgumentError(f"x has shape {x.shape}, mask {mask.shape}; they must be pictures and one mask")
    rows, columns = mask.shape
    if not mask.size:
        raise ArgumentError(f"mask has shape {mask.shape}; it must have a weight")
    convolve(draft, x, mask, (rows, columns), mode, launches)


def launches(shape: tuple[int, int], window: tuple[int, int], dtype: np.dtype[Any]) -> Plan:
    """The ladder's plan, under the names that convolutions share."""
    return renamed(plan(shape, window, dtype), n="x", p="y")


CONVOLVE = Operation("convolve2d", ("x", "mask"), make)
