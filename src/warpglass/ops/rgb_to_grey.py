"""Colour pictures made grey."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ladders.image.grey_dot import plan
from .calling import Operation, call
from .task import Draft, Operand


def rgb_to_grey(rgb: Any, out: Any = None, device: str | None = None) -> Any:
    """The grey values of pixels of three bytes: 0.21 red + 0.71 green + 0.07 blue, cut off to a whole number.

    `rgb` is of uint8 and of any shape whose last extent is 3; the result has the shape without it. The
    weights are those of the image ladder (ladders/image/problem.py).

    Raises ArgumentError for other types and shapes.
    """
    return call(GREY, (rgb,), (), out, device)


def make(draft: Draft, rgb: Operand) -> None:
    """All pixels in a row, by the ladder's kernel."""
    if rgb.dtype != np.uint8 or not rgb.ndim or rgb.shape[-1] != 3:
        raise ArgumentError(f"rgb is of {rgb.dtype} and shape {rgb.shape}; it must be uint8 and (..., 3)")
    out = draft.result(rgb.shape[:-1], rgb.dtype)
    if rgb.size:
        parameters = draft.tuned("image", "grey_dot", rgb.dtype)
        draft.follow(plan(prod(rgb.shape[:-1]), **parameters), rgb=draft.packed(rgb), out=out)


GREY = Operation("rgb_to_grey", ("rgb",), make)
