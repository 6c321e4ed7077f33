"""Operations on Dask arrays: each chunk by our kernel, the tree above the chunks by Dask.

Belongs here: how an operation on an array is one on its chunks, in Dask's own terms (reductions, blockwise,
map_overlap). Nothing is computed before Dask is asked to, except for the two passes over the chunks with
which a sort finds where to cut. Chunks may be arrays of NumPy (the engine) or of a GPU's library.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from ..errors import ArgumentError
from .axes import one_axis, several_axes
from .host import check_type
from .sample_sort import (
    choose_cuts,
    count_around,
    module_of,
    places_of_pieces,
    sample,
    starts_of_parts,
)
from .task import Operand
from .types import HALF, SINGLE, accumulator


def is_dask(array: object) -> bool:
    """Whether an array is Dask's."""
    return type(array).__module__.startswith("dask.array")


def carry_out(
    name: str, names: Sequence[str], operands: Sequence[Any], parameters: Sequence[Any], chunkwise: Any
) -> Any:
    """The Dask array of an operation's result; `chunkwise` is the module whose functions take chunks.

    `names` are those of the operands, for messages. Raises ArgumentError for operations, operands and
    parameters that chunks do not allow.
    """
    if name not in _OPERATIONS:
        raise ArgumentError(f"no Dask arrays are taken; there is: {', '.join(_OPERATIONS)}")
    da = importlib.import_module("dask.array")
    arrays = [one if is_dask(one) else da.from_array(np.asarray(one), chunks=-1) for one in operands]
    for what, one in zip(names, arrays, strict=False):
        check_type(what, one.dtype)
        if np.isnan(one.shape).any():
            raise ArgumentError(
                f"{what} has chunks of unknown sizes; call {what}.compute_chunk_sizes() first"
            )
    return _OPERATIONS[name](da, chunkwise, arrays, *parameters)


def _one_axis(x: Any, axis: int) -> int:
    """An axis counted from 0; raises ArgumentError for one that there is not."""
    return one_axis(Operand("x", x.shape, x.dtype), axis)


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which chunks' results are handed on: sums of halves are rounded once, at the end."""
    return SINGLE if dtype == HALF else dtype


# ---------------------------------------------------------------------------------------- sums
def _sum(da: ModuleType, ops: Any, arrays: Sequence[Any], axis: Any, dtype: Any, keepdims: bool) -> Any:
    (x,) = arrays
    several_axes(Operand("x", x.shape, x.dtype), axis)
    wanted = accumulator(x.dtype, dtype)
    adds = _wide(wanted)
    add = partial(_sum_chunk, ops.sum, adds)
    found = da.reduction(x, chunk=add, aggregate=add, axis=axis, keepdims=keepdims, dtype=adds)
    return found.astype(wanted)


def _sum_chunk(add: Callable[..., Any], adds: np.dtype[Any], x: Any, axis: Any, keepdims: bool) -> Any:
    return add(x, axis=axis, dtype=adds, keepdims=keepdims)


def _cumsum(da: ModuleType, ops: Any, arrays: Sequence[Any], axis: int | None, dtype: Any) -> Any:
    (x,) = arrays
    along = 0 if axis is None else _one_axis(x, axis)
    if axis is None:
        x = x.ravel()
    wanted = accumulator(x.dtype, dtype)
    adds = _wide(wanted)
    found = da.reductions.cumreduction(ops.cumsum, np.add, 0, x.astype(adds), axis=along, dtype=adds)
    return found.astype(wanted)


def _dot(da: ModuleType, ops: Any, arrays: Sequence[Any]) -> Any:
    x, y = arrays
    if (x.ndim, y.ndim) != (1, 1):
        return _matmul(da, ops, arrays)
    if x.shape != y.shape:
        raise ArgumentError(f"x has {x.size} elements, y {y.size}; they must be as many")
    dtype = np.result_type(x.dtype, y.dtype)
    adds = _wide(dtype)
    products = da.map_blocks(
        partial(_dot_chunk, ops.dot),
        x.astype(adds),
        y.astype(adds).rechunk(x.chunks),
        chunks=((1,) * x.numblocks[0],),
        dtype=adds,
        meta=np.empty(0, adds),
    )
    return _sum(da, ops, (products,), None, adds, False).astype(dtype)


def _dot_chunk(dot: Callable[..., Any], x: Any, y: Any) -> Any:
    return dot(x, y).reshape(1)


def _matmul(da: ModuleType, ops: Any, arrays: Sequence[Any]) -> Any:
    a, b = arrays
    if (a.ndim, b.ndim) != (2, 2):
        raise ArgumentError(f"a has {a.ndim} dimensions, b {b.ndim}; of Dask arrays both have 2")
    if a.shape[1] != b.shape[0]:
        raise ArgumentError(f"{a.shape[1]} columns do not go with {b.shape[0]} rows")
    dtype = np.result_type(a.dtype, b.dtype)
    adds = _wide(dtype)
    parts = da.blockwise(
        partial(_matmul_chunk, ops.matmul),
        "ikj",
        a.astype(adds),
        "ik",
        b.astype(adds).rechunk({0: a.chunks[1]}),
        "kj",
        adjust_chunks={"k": 1},
        dtype=adds,
        meta=np.empty((0, 0, 0), adds),
    )
    return _sum(da, ops, (parts,), 1, adds, False).astype(dtype)


def _matmul_chunk(matmul: Callable[..., Any], a: Any, b: Any) -> Any:
    return matmul(a, b)[:, None, :]


# ---------------------------------------------------------------------------------------- bins
def _histogram(da: ModuleType, ops: Any, arrays: Sequence[Any], *parameters: Any) -> tuple[Any, Any]:
    x = arrays[0].ravel()
    if len(arrays) > 1:
        edges = np.asarray(arrays[1])
    else:
        bins, ends = parameters
        held = SINGLE if x.dtype == HALF else x.dtype
        edges = np.histogram_bin_edges(np.empty(0, held), bins, ends or _limits(da, x))
    counts = da.map_blocks(
        partial(_histogram_chunk, ops.histogram, edges),
        x,
        new_axis=1,
        dtype=np.int64,
        chunks=((1,) * x.numblocks[0], (edges.size - 1,)),
        meta=np.empty((0, 0), np.int64),
    )
    return _sum(da, ops, (counts,), 0, np.dtype(np.int64), False), edges


def _limits(da: ModuleType, x: Any) -> tuple[float, float]:
    if not x.size:
        return 0.0, 1.0
    lowest, highest = (float(one) for one in da.compute(x.min(), x.max()))
    if not (math.isfinite(lowest) and math.isfinite(highest)):
        raise ArgumentError(f"x has elements from {lowest} to {highest}; pass a finite range")
    return lowest, highest


def _histogram_chunk(histogram: Callable[..., Any], edges: Any, x: Any) -> Any:
    return histogram(x, edges)[0][None, :]


# ---------------------------------------------------------------------------------------- neighbourhoods
def _convolve1d(da: ModuleType, ops: Any, arrays: Sequence[Any], axis: int, mode: str) -> Any:
    x, mask = arrays
    along = _one_axis(x, axis)
    if mask.ndim != 1 or not mask.size:
        raise ArgumentError(f"mask has shape {mask.shape}; it must be a vector with a weight")
    return _overlapped(da, partial(ops.convolve1d, axis=along), x, mask, {along: mask.size}, mode)


def _convolve2d(da: ModuleType, ops: Any, arrays: Sequence[Any], mode: str) -> Any:
    x, mask = arrays
    if x.ndim < 2 or mask.ndim != 2 or not mask.size:
        raise ArgumentError(f"x has shape {x.shape}, mask {mask.shape}; they must be pictures and one mask")
    window = {x.ndim - 2: mask.shape[0], x.ndim - 1: mask.shape[1]}
    return _overlapped(da, ops.convolve2d, x, mask, window, mode)


def _overlapped(
    da: ModuleType, convolve: Callable[..., Any], x: Any, mask: Any, window: Mapping[int, int], mode: str
) -> Any:
    """Chunks with as many neighbours as the mask reaches; zeros beyond the array."""
    if mode != "same":
        raise ArgumentError(f"mode {mode!r}: convolutions of Dask arrays have the mode 'same'")
    weights = np.asarray(mask)
    depth = {axis: window.get(axis, 1) - 1 for axis in range(x.ndim)}
    dtype = np.result_type(x.dtype, weights.dtype)
    around = partial(_convolve_chunk, convolve, weights)
    return da.map_overlap(
        around, x, depth=depth, boundary=0, dtype=dtype, meta=np.empty((0,) * x.ndim, dtype)
    )


def _convolve_chunk(convolve: Callable[..., Any], weights: Any, x: Any) -> Any:
    return convolve(x, weights)


# ---------------------------------------------------------------------------------------- order
def _sort(da: ModuleType, ops: Any, arrays: Sequence[Any], axis: int | None) -> Any:
    """A sample sort with as many parts as there are chunks: each key is sorted once, in its part."""
    (x,) = arrays
    if x.ndim > 1 and axis is not None:
        along = _one_axis(x, axis)
        whole = x.rechunk({along: -1})
        return da.map_blocks(partial(ops.sort, axis=along), whole, dtype=x.dtype, meta=whole._meta)
    return _sorted(da, x.ravel(), partial(_sort_part, ops.sort), x.dtype, places=False)


def _argsort(da: ModuleType, ops: Any, arrays: Sequence[Any], axis: int | None) -> Any:
    """As `_sort`; keys travel with their places in the array."""
    (x,) = arrays
    if x.ndim > 1 and axis is not None:
        along = _one_axis(x, axis)
        whole = x.rechunk({along: -1})
        meta = whole._meta.astype(np.int64)
        return da.map_blocks(partial(ops.argsort, axis=along), whole, dtype=np.int64, meta=meta)
    return _sorted(da, x.ravel(), partial(_argsort_part, ops.argsort), np.dtype(np.int64), places=True)


def _sorted(
    da: ModuleType, x: Any, make_part: Callable[[Any], Any], dtype: np.dtype[Any], *, places: bool
) -> Any:
    """The array whose chunks `make_part` makes of a column of all chunks' pieces for a part."""
    dask = importlib.import_module("dask")
    chunks, sizes, parts = x.to_delayed().ravel(), x.chunks[0], x.numblocks[0]
    drawn = dask.delayed(sample)
    cuts = choose_cuts(
        dask.compute(*[drawn(chunk, place, x.size, parts) for place, chunk in enumerate(chunks)]), parts
    )
    starts = starts_of_parts(
        dask.compute(*[dask.delayed(count_around)(chunk, cuts) for chunk in chunks]), sizes
    )
    firsts = np.cumsum((0, *sizes[:-1]))[:, None]
    cut = da.blockwise(
        partial(_cut_chunk, cuts, places),
        "ij",
        x,
        "i",
        da.from_array(np.hstack([firsts, starts]), chunks=(1, -1)),
        "ij",
        align_arrays=False,
        adjust_chunks={"i": 1, "j": parts},
        dtype=object,
        meta=np.empty((0, 0), object),
    )
    return da.map_blocks(
        make_part,
        cut.rechunk((-1, 1), method=_shuffle(dask)),
        drop_axis=0,
        chunks=(tuple(np.diff(starts.sum(axis=0)).tolist()),),
        dtype=dtype,
        meta=x._meta.astype(dtype),
    )


def _shuffle(dask: ModuleType) -> str:
    """How Dask hands pieces on from all chunks to all parts.

    Workers of a cluster write what they get to their disks, and senders wait where that is slower: "p2p".
    Other schedulers do not have that.
    """
    cluster = type(getattr(dask.base.get_scheduler(), "__self__", None))
    return "p2p" if cluster.__module__.partition(".")[0] == "distributed" else "tasks"


def _cut_chunk(cuts: Any, places: bool, keys: Any, table: Any) -> Any:
    """A row with a piece for each part: its keys, and their places in the array if they are asked for.

    `table` has a row: the chunk's own place, and where its pieces begin and end.
    """
    first, *starts = table[0].tolist()
    found = np.empty((1, len(starts) - 1), object)
    for part, chosen in enumerate(places_of_pieces(keys, cuts, starts)):
        found[0, part] = (keys[chosen], chosen + first) if places else (keys[chosen],)
    return found


def _sort_part(sort: Callable[..., Any], column: Any) -> Any:
    return sort(_joined(column, 0))


def _argsort_part(argsort: Callable[..., Any], column: Any) -> Any:
    return _joined(column, 1)[argsort(_joined(column, 0))]


def _joined(column: Any, which: int) -> Any:
    """One of the arrays of all pieces, in the order of the chunks."""
    arrays = [piece[which] for piece in column[:, 0]]
    return module_of(arrays[0]).concatenate(arrays)


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "sum": _sum,
    "cumsum": _cumsum,
    "dot": _dot,
    "matmul": _matmul,
    "sort": _sort,
    "argsort": _argsort,
    "histogram": _histogram,
    "convolve1d": _convolve1d,
    "convolve2d": _convolve2d,
}
