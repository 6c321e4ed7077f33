"""Axes as NumPy's functions take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np

from ..errors import ArgumentError
from .layout import packed_strides
from .task import Draft, Operand


def axes_of(axis: Any) -> tuple[int, ...] | int | None:
    """An axis argument in a form that can be kept: None, a number, or several."""
    if axis is None or isinstance(axis, int):
        return axis
    try:
        return axis.__index__() if isinstance(axis, SupportsIndex) else tuple(one.__index__() for one in axis)
    except (AttributeError, TypeError):
        raise ArgumentError(f"axis {axis!r}: it may be None, a whole number or a tuple of them") from None


def one_axis(operand: Operand, axis: int) -> int:
    """An axis counted from 0."""
    if not -operand.ndim <= axis < operand.ndim:
        raise ArgumentError(f"axis {axis}: {operand.name} has {operand.ndim} dimensions")
    return axis % operand.ndim


def several_axes(operand: Operand, axis: tuple[int, ...] | int | None) -> tuple[int, ...]:
    """Axes counted from 0, in order; None means all."""
    if axis is None:
        return tuple(range(operand.ndim))
    found = [one_axis(operand, one) for one in ((axis,) if isinstance(axis, int) else axis)]
    if len(set(found)) != len(found):
        raise ArgumentError(f"axis {axis} names an axis twice")
    return tuple(sorted(found))


def permuted(operand: Operand, order: Sequence[int]) -> Operand:
    """The same elements with the axes in another order."""
    strides = operand.strides or packed_strides(operand.shape, operand.dtype.itemsize)
    shape = tuple(operand.shape[one] for one in order)
    moved = tuple(strides[one] for one in order)
    packed = moved == packed_strides(shape, operand.dtype.itemsize)
    return Operand(operand.name, shape, operand.dtype, None if packed else moved)


def reshaped_to(operand: Operand, shape: tuple[int, int]) -> Operand:
    """A vector as a matrix of one row or one column."""
    (stride,) = operand.strides or (operand.dtype.itemsize,)
    strides = None if operand.strides is None else (stride, stride)
    return Operand(operand.name, shape, operand.dtype, strides)


@dataclass(frozen=True, slots=True)
class Rows:
    """An array whose work goes along one axis, seen as rows of `n` elements; results have the shape `shape`.

    `order` is that of the axes as the rows have them, None where they lie so already.
    """

    operand: Operand
    n: int
    shape: tuple[int, ...]
    order: tuple[int, ...] | None

    def target(self, draft: Draft, result: str, dtype: np.dtype[Any]) -> str:
        """The name of an array for the rows of the result: the result itself, if it lies so."""
        return result if self.order is None else draft.scratch(dtype, self.operand.size)

    def move_back(self, draft: Draft, target: str, result: str, dtype: np.dtype[Any]) -> None:
        """Copy the rows to where they belong in the result."""
        if self.order is not None:
            turned = Operand(target, self.operand.shape, dtype)
            inverse = sorted(range(len(self.order)), key=self.order.__getitem__)
            draft.copy(permuted(turned, inverse), result, dtype)


def rows_along(x: Operand, axis: int | None) -> Rows:
    """The rows of an array along an axis; of None, of all elements in C order."""
    if axis is None or x.ndim == 0:
        if axis is not None:
            one_axis(x, axis)
        return Rows(x, max(1, x.size), (x.size,), None)
    along = one_axis(x, axis)
    if along == x.ndim - 1:
        return Rows(x, max(1, x.shape[along]), x.shape, None)
    order = (*(one for one in range(x.ndim) if one != along), along)
    return Rows(permuted(x, order), max(1, x.shape[along]), x.shape, order)
