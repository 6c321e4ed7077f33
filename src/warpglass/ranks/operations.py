"""Operations on arrays shared out over ranks: the same algorithms on GPUs and on the engine.

Belongs here: what each rank computes by warpglass.ops, and what it exchanges with the others. All ranks call
an operation together, with shares of one type that differ in nothing but their length.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from .. import ops
from ..errors import ArgumentError
from ..ops.sample_sort import choose_cuts, count_in_sorted, on_host, sample, starts_of_parts
from ..ops.types import HALF, SINGLE, accumulator
from .communicator import Communicator, all_gather, gather_numbers, gather_rows


def sum(here: Communicator, x: Any) -> Any:
    """The sum of all elements of all shares, on every rank: the same bits on all and in every run.

    Each rank adds up its own, and then the sums of all in the order of ranks; halves in single precision.
    """
    _check(here, "sum", x)
    adds = accumulator(x.dtype, None)
    own = ops.sum(x, dtype=SINGLE if adds == HALF else adds)
    return ops.sum(all_gather(here, here.module.asarray(own))).astype(adds)


def dot(here: Communicator, x: Any, y: Any) -> Any:
    """The dot product of two vectors that are shared out alike, on every rank."""
    _check(here, "dot", x)
    products = all_gather(here, here.module.asarray(ops.dot(x, y)))
    return ops.sum(products).astype(products.dtype)


def cumsum(here: Communicator, x: Any) -> Any:
    """This rank's share of the running sums of a vector."""
    lengths = _lengths(here, "cumsum", x, 1)
    adds = accumulator(x.dtype, None)
    found = ops.cumsum(x) if len(x) else here.module.zeros(0, adds)
    total = found[-1] if len(x) else here.module.zeros((), adds)
    totals = all_gather(here, here.module.asarray(total))
    if here.rank and np.any(lengths[: here.rank]):
        found += ops.sum(totals[: here.rank]).astype(adds)
    return found


def sort(here: Communicator, x: Any) -> Any:
    """This rank's part of the keys of all in ascending order, as a stable sort of them all has it.

    A sample sort: parts are of about equal sizes, whatever the keys and the shares are.
    """
    lengths = _lengths(here, "sort", x, 1)
    total = int(lengths.sum())
    keys = ops.sort(x) if len(x) else x
    drawn = sample(keys, here.rank, total, here.size)
    sizes = gather_numbers(here, len(drawn)).ravel().tolist()
    samples = here.exchange([here.module.asarray(drawn)] * here.size, sizes)
    cuts = choose_cuts([on_host(one) for one in samples], here.size)
    counts = gather_numbers(here, *count_in_sorted(keys, cuts).ravel().tolist())
    starts = starts_of_parts(counts.reshape(here.size, 2, here.size - 1), lengths.tolist())
    ours = starts[here.rank]
    pieces = [keys[ours[part] : ours[part + 1]] for part in range(here.size)]
    incoming = (starts[:, here.rank + 1] - starts[:, here.rank]).tolist()
    runs = here.module.concatenate(here.exchange(pieces, incoming))
    return ops.sort(runs) if len(runs) and here.size > 1 else runs


def matmul(here: Communicator, a: Any, b: Any) -> Any:
    """This rank's rows of the product of two matrices whose rows are shared out, each in its own way."""
    _lengths(here, "matmul", a, 2)
    rows = _lengths(here, "matmul", b, 2)
    if a.shape[1] != rows.sum():
        raise ArgumentError(f"matmul: {a.shape[1]} columns do not go with {rows.sum()} rows in all")
    whole = gather_rows(here, b, rows.tolist())
    if not len(a):
        return here.module.zeros((0, b.shape[1]), np.result_type(a.dtype, b.dtype))
    return ops.matmul(a, whole)


def convolve2d(here: Communicator, x: Any, mask: Any) -> Any:
    """This rank's rows of a picture convolved with a mask (mode "same"); every rank has the whole mask.

    The rows that the mask reaches beyond a share come from the ranks that have them. Rows that need none are
    convolved where they lie.
    """
    lengths = _lengths(here, "convolve2d", x, 2)
    if mask.ndim != 2 or not mask.size:
        raise ArgumentError(
            f"convolve2d: mask has shape {mask.shape}; it must be rows and columns of weights"
        )
    reach = len(mask) // 2, (len(mask) - 1) // 2
    above, below = _halos(here, x, lengths, reach)
    module, rows = here.module, len(x)
    if not rows:
        return module.zeros(x.shape, np.result_type(x.dtype, mask.dtype))
    if rows < len(mask):
        framed = module.concatenate([above, x, below])
        return ops.convolve2d(framed, mask)[len(above) : len(above) + rows]
    found = ops.convolve2d(x, mask)
    if len(above):
        edge = ops.convolve2d(module.concatenate([above, x[: len(mask) - 1]]), mask)
        found[: reach[0]] = edge[len(above) : len(above) + reach[0]]
    if len(below):
        edge = ops.convolve2d(module.concatenate([x[rows - len(mask) + 1 :], below]), mask)
        last = len(mask) - 1
        found[rows - reach[1] :] = edge[last - reach[1] : last]
    return found


def _halos(
    here: Communicator, x: Any, lengths: np.ndarray[Any, Any], reach: tuple[int, int]
) -> tuple[Any, Any]:
    """The rows before and after this rank's, as many as are needed and there are, from whoever has them."""
    ends = np.cumsum(lengths)
    begins = ends - lengths
    wanted = [
        (max(0, int(first) - reach[0]), min(int(ends[-1]), int(last) + reach[1])) if last > first else (0, 0)
        for first, last in zip(begins, ends, strict=True)
    ]

    def common(owner: int, reader: int) -> tuple[int, int]:
        """Rows of one rank that another wants, counted within the owner's share."""
        first = max(int(begins[owner]), wanted[reader][0])
        last = min(int(ends[owner]), wanted[reader][1])
        return (
            (first - int(begins[owner]), max(first, last) - int(begins[owner])) if reader != owner else (0, 0)
        )

    pieces = [x[slice(*common(here.rank, other))] for other in range(here.size)]
    counts = [last - first for first, last in (common(other, here.rank) for other in range(here.size))]
    found = here.exchange(pieces, counts)
    none = x[:0]
    join = here.module.concatenate
    return join([none, *found[: here.rank]]), join([none, *found[here.rank + 1 :]])


def _check(here: Communicator, name: str, x: Any) -> None:
    if not isinstance(x, here.module.ndarray):
        raise ArgumentError(
            f"{name}: rank {here.rank} has a share of type {type(x).__module__}.{type(x).__qualname__}; "
            f"these ranks take arrays of {here.module.__name__}"
        )


def _lengths(here: Communicator, name: str, x: Any, dimensions: int) -> np.ndarray[Any, Any]:
    """The rows of all shares; raises ArgumentError on every rank where shares do not go together."""
    _check(here, name, x)
    kind = f"{x.dtype} {x.ndim} {x.shape[1:]}"
    rows = gather_numbers(here, len(x) if x.ndim else 0, zlib.crc32(kind.encode()), x.ndim)
    if np.any(rows[:, 2] != dimensions):
        raise ArgumentError(
            f"{name}: shares have {sorted(set(rows[:, 2]))} dimensions; {dimensions} are needed"
        )
    if np.any(rows[:, 1] != rows[0, 1]):
        raise ArgumentError(
            f"{name}: rank {here.rank} has a share of {x.dtype} and shape {x.shape}; those of other ranks "
            "differ in type, or in more than their length"
        )
    return rows[:, 0]
