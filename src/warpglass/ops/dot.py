"""The dot product of two vectors; of matrices it is their product."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ladders.dot.last_block import plan
from .calling import Operation, call
from .matmul import make as make_product
from .task import Draft, Operand
from .types import computed_in


def dot(x: Any, y: Any, out: Any = None, device: str | None = None) -> Any:
    """The sum of the products of two vectors' elements; of two matrices the matrix product, as np.dot.

    The result has the type that NumPy's promotion gives (np.result_type); integers of all widths wrap in it.
    float16 is added up in float32. The result is the same in every run.

    Raises ArgumentError for lengths that differ, and for more than two dimensions.
    """
    return call(DOT, (x, y), (), out, device)


def make(draft: Draft, x: Operand, y: Operand) -> None:
    """Vectors by the ladder's kernel."""
    if (x.ndim, y.ndim) != (1, 1):
        if not 1 <= min(x.ndim, y.ndim) <= max(x.ndim, y.ndim) <= 2:
            raise ArgumentError(f"x has {x.ndim} dimensions, y {y.ndim}; 1 or 2 are taken: use matmul")
        make_product(draft, x, y)
        return
    if x.shape != y.shape:
        raise ArgumentError(f"x has {x.size} elements, y {y.size}; they must be as many")
    wanted = np.result_type(x.dtype, y.dtype)
    if wanted.kind == "b":
        raise ArgumentError("x and y are of booleans; convert one to the type that is to be added")
    total = draft.result((), wanted, cleared=x.size == 0)
    if x.size == 0:
        return
    adds = computed_in(wanted)
    target = total if adds == wanted else draft.scratch(adds, 1)
    names = {"x": draft.packed(x, adds), "y": draft.packed(y, adds)}
    draft.follow(plan(x.size, adds, **draft.tuned("dot", "last_block", adds)), **names, dot=target)
    if adds != wanted:
        draft.copy(Operand(target, (), adds), total, wanted)


DOT = Operation("dot", ("x", "y"), make)
