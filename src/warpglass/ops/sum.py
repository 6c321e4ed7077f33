"""The sum of an array's elements, over all of it or along axes."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..ladders.reduction.last_block import plan
from .axes import axes_of, permuted, several_axes
from .calling import Operation, call
from .sum_along import plan as plan_along
from .task import Draft, Operand
from .types import HALF, SINGLE, accumulator, computed_in, element_type, loaded_as


def sum(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    device: str | None = None,
) -> Any:
    """Add up the elements of `x`, along the axes of `axis` if it names some, as np.sum does.

    Integers and booleans are added in 64 bits and wrap; floating-point types in their own precision, float16
    in float32, in a tree whose shape depends on the shape of `x` alone: the result is the same in every run.
    `dtype` is another type to add in. The sum of no elements is 0.

    Raises ArgumentError for axes that `x` does not have.
    """
    return call(SUM, (x,), (axes_of(axis), element_type(dtype), bool(keepdims)), out, device)


def make(
    draft: Draft, x: Operand, axis: tuple[int, ...] | int | None, dtype: np.dtype[Any] | None, keepdims: bool
) -> None:
    """Everything goes to the ladder's kernel; axes that are added come to lie side by side first."""
    axes = several_axes(x, axis)
    kept = tuple(one for one in range(x.ndim) if one not in axes)
    shape = tuple(
        1 if one in axes else extent for one, extent in enumerate(x.shape) if keepdims or one in kept
    )
    wanted = accumulator(x.dtype, dtype)
    adds = computed_in(wanted)
    total = draft.result(shape, wanted, cleared=x.size == 0)
    if x.size == 0:
        return
    if prod(shape) == 1:
        loaded = loaded_as(x.dtype, adds)
        parameters = draft.tuned("reduction", "last_block", loaded)
        target = total if adds == wanted else draft.scratch(adds, 1)
        draft.follow(plan(x.size, loaded, adds=adds, **parameters), x=draft.packed(x, loaded), sum=target)
        if adds != wanted:
            draft.copy(Operand(target, shape, adds), total, wanted)
        return
    if axes and axes[-1] - axes[0] >= len(axes):
        x, axes = permuted(x, (*kept, *axes)), tuple(range(len(kept), x.ndim))
    first = axes[0] if axes else x.ndim
    last = first + len(axes)
    extents = prod(x.shape[:first]), prod(x.shape[first:last]), prod(x.shape[last:])
    loaded = adds if x.dtype == HALF and adds != SINGLE else x.dtype
    draft.follow(plan_along(extents, loaded, adds, wanted), x=draft.packed(x, loaded), sums=total)


SUM = Operation("sum", ("x",), make)
