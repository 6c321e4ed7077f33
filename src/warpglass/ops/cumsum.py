"""Running sums of an array's elements, along an axis or over all of it."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..ladders.scan.ordered_look_back import plan
from .axes import axes_of, one_axis
from .calling import Operation, call
from .scan_along import scan_along
from .task import Draft, Operand, part
from .types import accumulator, computed_in, element_type, loaded_as

_LONG = 1 << 16  # elements of a row that is worth launches of its own
_FEW = 64  # rows that get launches of their own


def cumsum(x: Any, axis: Any = None, dtype: Any = None, out: Any = None, device: str | None = None) -> Any:
    """Running sums of `x` along `axis`, of all elements in C order where it is None, as np.cumsum.

    Types are those of `sum`. Floating-point results may differ in their last bits from NumPy's, which adds
    one element after the other.

    Raises ArgumentError for an axis that `x` does not have.
    """
    return call(CUMSUM, (x,), (axes_of(axis), element_type(dtype)), out, device)


def make(draft: Draft, x: Operand, axis: int | None, dtype: np.dtype[Any] | None) -> None:
    """Whole arrays and few long rows by the ladder's kernel, others by one for many rows."""
    wanted = accumulator(x.dtype, dtype)
    adds = computed_in(wanted)
    along = None if axis is None else one_axis(x, axis)
    shape = (x.size,) if along is None else x.shape
    result = draft.result(shape, wanted)
    if x.size == 0:
        return
    outer, n, inner = (
        (1, x.size, 1) if along is None else (prod(shape[:along]), shape[along], prod(shape[along + 1 :]))
    )
    target = result if adds == wanted else draft.scratch(adds, x.size)
    if inner == 1 and (outer == 1 or (outer <= _FEW and n >= _LONG)):
        loaded = loaded_as(x.dtype, adds)
        parameters = draft.tuned("scan", "ordered_look_back", loaded)
        row, source = plan(n, loaded, adds=adds, **parameters), draft.packed(x, loaded)
        for start in range(0, x.size, n):
            draft.follow(row, x=part(source, start), y=part(target, start))
    else:
        scan_along(draft, draft.packed(x, adds), target, adds, (outer, n, inner))
    if adds != wanted:
        draft.copy(Operand(target, shape, adds), result, wanted)


CUMSUM = Operation("cumsum", ("x",), make)
