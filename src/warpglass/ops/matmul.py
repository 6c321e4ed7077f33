"""The product of matrices."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ladders.matmul.plans import Tile, fp64_tensor_product, product, tensor_product
from ..ladders.plan import Plan
from .axes import reshaped_to
from .calling import Operation, call
from .task import Draft, Operand, part
from .types import HALF, computed_in

# The engine's: it takes minutes to optimise a kernel with as many sums a thread as are best on a GPU.
_SMALL = Tile(32, 32, 8, 16, 32, 2, 1)

# Compute capabilities whose tensor cores multiply halves: from the first one on. The other has wgmma, and its
# tensor cores multiply doubles faster than other units do.
_TENSOR_CORES, _HOPPER = (8, 0), (9, 0)
_WORTH = 2**24  # products of halves, from which packing the factors pays


def matmul(a: Any, b: Any, out: Any = None, device: str | None = None) -> Any:
    """The matrix product of `a` and `b`, as np.matmul: of the last two axes, the others broadcast.

    One-dimensional operands are a row and a column. The result has the type that NumPy's promotion gives;
    integers wrap in it, float32 is computed in float32 throughout, float16 with sums in float32.

    Raises ArgumentError for extents that do not go together, scalars and booleans.
    """
    return call(MATMUL, (a, b), (), out, device)


def make(draft: Draft, a: Operand, b: Operand) -> None:
    """A launch of the ladder's plan for every matrix."""
    if not a.ndim or not b.ndim:
        raise ArgumentError(f"{a.name if not a.ndim else b.name} is a single number; multiply by it with *")
    rows = a if a.ndim > 1 else reshaped_to(a, (1, a.size))
    columns = b if b.ndim > 1 else reshaped_to(b, (b.size, 1))
    (m, k), (inner, n) = rows.shape[-2:], columns.shape[-2:]
    if k != inner:
        raise ArgumentError(
            f"{a.name} has shape {a.shape}, {b.name} {b.shape}: {k} columns do not go with {inner} rows"
        )
    try:
        batch = np.broadcast_shapes(rows.shape[:-2], columns.shape[:-2])
    except ValueError:
        raise ArgumentError(
            f"{a.name} has shape {a.shape}, {b.name} {b.shape}: {rows.shape[:-2]} and {columns.shape[:-2]} "
            "cannot be broadcast"
        ) from None
    wanted = np.result_type(a.dtype, b.dtype)
    if wanted.kind == "b":
        raise ArgumentError(f"{a.name} and {b.name} are of booleans; convert one to a type of numbers")
    shape = (*batch, *((m,) if a.ndim > 1 else ()), *((n,) if b.ndim > 1 else ()))
    result = draft.result(shape, wanted, cleared=k == 0)
    if prod(shape) == 0 or k == 0:
        return
    plan, adds = _plan(draft, wanted, m, n, k)
    target = result if adds == wanted else draft.scratch(adds, prod(shape))
    sources = draft.packed(rows, adds), draft.packed(columns, adds)
    steps = _places(batch, rows.shape[:-2], m * k), _places(batch, columns.shape[:-2], k * n)
    for number, starts in enumerate(zip(*steps, strict=True)):
        a_part, b_part = (part(name, start) for name, start in zip(sources, starts, strict=True))
        draft.follow(plan, a=a_part, b=b_part, c=part(target, number * m * n))
    if adds != wanted:
        draft.copy(Operand(target, shape, adds), result, wanted)


def _plan(draft: Draft, wanted: np.dtype[Any], m: int, n: int, k: int) -> tuple[Plan, np.dtype[Any]]:
    """How a matrix is multiplied, and the type of what the plan reads and writes."""
    place, many = draft.capability or (0, 0), draft.multiprocessors
    if wanted == HALF and place >= _TENSOR_CORES and m * n * k >= _WORTH:
        return tensor_product(m, n, k, "F16", warp_groups=place == _HOPPER, halves=True), wanted
    if wanted == np.float64 and place == _HOPPER:
        return fp64_tensor_product(m, n, k, multiprocessors=many), wanted
    adds = _signed(computed_in(wanted))
    tile = _SMALL if draft.capability is None else None
    return product(m, n, k, adds, multiprocessors=many, tile=tile), adds


def _signed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type whose kernel computes the same bits."""
    return np.dtype(f"i{dtype.itemsize}") if dtype.kind == "u" else dtype


def _places(batch: tuple[int, ...], own: tuple[int, ...], size: int) -> list[int]:
    """Where each matrix of a batch begins in an operand's packed elements."""
    numbers = np.arange(prod(own)).reshape(own) * size
    return np.broadcast_to(numbers, batch).reshape(-1).tolist()


MATMUL = Operation("matmul", ("a", "b"), make)
