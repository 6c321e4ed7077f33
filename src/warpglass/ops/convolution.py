"""What both convolutions share: modes, and the product of a picture with a mask around each element.

Belongs here: how the ladders' kernels, which leave out what lies beyond an array and make a result of its
shape, become convolutions of all modes: their mask is turned around; "valid" is the inner part of the result;
for "full" the array is framed by zeros first.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ladders.plan import Plan, Step
from ..ladders.problem import C_NAMES
from .layout import packed_strides
from .task import Draft, Operand, part
from .types import computed_in

MODES = ("same", "full", "valid")
_MOST_UNROLLED = 64  # weights that a thread keeps in registers
_BLOCK = 256

# Extents of a picture, those of a mask, and a type; the plan's arrays are x, mask and y.
Launches = Callable[[tuple[int, int], tuple[int, int], np.dtype[Any]], Plan]


def check_mode(name: str, mode: str) -> str:
    """Return a mode that there is."""
    if mode not in MODES:
        raise ArgumentError(f"{name}: mode {mode!r}; there is: {', '.join(MODES)}")
    return mode


def convolve(
    draft: Draft,
    x: Operand,
    mask: Operand,
    window: tuple[int, int],
    mode: str,
    launches: Launches,
) -> None:
    """Convolve a vector, or the last two axes of one or many pictures, with a mask of the extents `window`.

    `launches` is for masks of at most 64 weights.
    """
    dtype = np.result_type(x.dtype, mask.dtype)
    if dtype.kind == "b":
        raise ArgumentError(f"{x.name} and {mask.name} are of booleans; convert one to a type of numbers")
    adds = computed_in(dtype)
    adds = np.dtype(f"i{adds.itemsize}") if adds.kind == "u" else adds
    *others, rows, columns = x.shape if x.ndim > 1 else (1, *x.shape)  # a vector is a picture of one row
    lengths = _length(rows, window[0], mode), _length(columns, window[1], mode)
    shape = (*others, *lengths) if x.ndim > 1 else lengths[1:]
    result = draft.result(shape, dtype, cleared=x.size == 0)
    if not prod(shape) or not x.size:
        return
    weights = _turned(draft, mask, adds)
    inner = max(rows, lengths[0]), max(columns, lengths[1])
    source = draft.packed(x, adds) if inner == (rows, columns) else _framed(draft, x, window, inner, adds)
    direct = lengths == inner and adds == dtype
    target = result if direct else draft.scratch(adds, prod(others) * prod(inner))
    plan = launches(inner, window, adds) if prod(window) <= _MOST_UNROLLED else _any_mask(inner, window, adds)
    for start in range(0, prod(others) * prod(inner), prod(inner)):
        draft.follow(plan, x=part(source, start), mask=weights, y=part(target, start))
    if not direct:
        strides = packed_strides((*others, *inner), adds.itemsize)[-len(shape) :]
        first = 0 if lengths == inner else _first(window, inner)
        view = Operand(target, shape, adds, strides)
        draft.copy(view, result, dtype, start=first)


def _any_mask(shape: tuple[int, int], window: tuple[int, int], dtype: np.dtype[Any]) -> Plan:
    """The launch for masks of more weights than a thread has registers."""
    grid = min(-(-prod(shape) // _BLOCK), 2**31 - 1)
    arguments = ("x", "mask", "y", *(np.int64(one) for one in (*shape, *window)))
    kernel = f"around<{C_NAMES[dtype.name]}>"
    return Plan((Step(kernel, Path(__file__).with_suffix(".cu"), grid, _BLOCK, 0, arguments),))


def _length(n: int, m: int, mode: str) -> int:
    return n if mode == "same" else n + m - 1 if mode == "full" else max(0, n - m + 1)


def _first(window: tuple[int, int], inner: tuple[int, int]) -> int:
    """The element number of the first result whose neighbourhood lies within a picture."""
    return window[0] // 2 * inner[1] + window[1] // 2


def _turned(draft: Draft, mask: Operand, dtype: np.dtype[Any]) -> str:
    """The mask from its last weight to its first."""
    source = draft.packed(mask)
    turned = Operand(source, (mask.size,), mask.dtype, (-mask.dtype.itemsize,))
    weights = draft.scratch(dtype, mask.size)
    draft.copy(turned, weights, dtype, start=mask.size - 1)
    return weights


def _framed(
    draft: Draft, x: Operand, window: tuple[int, int], inner: tuple[int, int], dtype: np.dtype[Any]
) -> str:
    """Pictures with zeros around them, so that every element that meets the mask is within."""
    others = x.shape[:-2] if x.ndim > 1 else ()
    framed = draft.scratch(dtype, prod(others) * prod(inner), cleared=True)
    first = (window[0] - 1) // 2 * inner[1] + (window[1] - 1) // 2
    strides = packed_strides((*others, *inner), dtype.itemsize)[-x.ndim :]
    draft.copy(x, framed, dtype, strides=strides, target_start=first)
    return framed
