"""Operations on Dask arrays: each chunk by our kernel, the tree above the chunks by Dask.

Belongs here: how an operation on an array is one on its chunks, in Dask's own terms (reductions, blockwise,
map_overlap). Nothing is computed before Dask is asked to, except for the two passes over the chunks with
which a sort finds where to cut. Chunks may be arrays of NumPy (the engine) or of a GPU's library.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from ..errors import ArgumentError
from .types import accumulator

_SAMPLES = 256  # of a chunk, from which a sort chooses its cuts


def is_dask(array: object) -> bool:
    """Whether an array is Dask's."""
    return type(array).__module__.startswith("dask.array")


def carry_out(name: str, operands: Sequence[Any], parameters: Sequence[Any], chunkwise: Any) -> Any:
    """The Dask array of an operation's result; `chunkwise` is the module whose functions take chunks.

    Raises ArgumentError for operations and parameters that chunks do not allow.
    """
    if name not in _OPERATIONS:
        raise ArgumentError(f"{name}: no Dask arrays are taken; there is: {', '.join(_OPERATIONS)}")
    da = importlib.import_module("dask.array")
    arrays = [one if is_dask(one) else da.from_array(np.asarray(one), chunks=-1) for one in operands]
    return _OPERATIONS[name](da, chunkwise, arrays, *parameters)


# ---------------------------------------------------------------------------------------- sums
def _sum(da: ModuleType, ops: Any, arrays: Sequence[Any], axis: Any, dtype: Any, keepdims: bool) -> Any:
    (x,) = arrays
    adds = accumulator(x.dtype, dtype)
    add = partial(_sum_chunk, ops.sum, adds)
    return da.reduction(x, chunk=add, aggregate=add, axis=axis, keepdims=keepdims, dtype=adds)


def _sum_chunk(add: Callable[..., Any], adds: np.dtype[Any], x: Any, axis: Any, keepdims: bool) -> Any:
    return add(x, axis=axis, dtype=adds, keepdims=keepdims)


def _cumsum(da: ModuleType, ops: Any, arrays: Sequence[Any], axis: int | None, dtype: Any) -> Any:
    (x,) = arrays
    if axis is None:
        x, axis = x.ravel(), 0
    adds = accumulator(x.dtype, dtype)
    return da.reductions.cumreduction(ops.cumsum, np.add, 0, x.astype(adds), axis=axis % x.ndim, dtype=adds)


def _dot(da: ModuleType, ops: Any, arrays: Sequence[Any]) -> Any:
    x, y = arrays
    if (x.ndim, y.ndim) != (1, 1):
        return _matmul(da, ops, arrays)
    if x.shape != y.shape:
        raise ArgumentError(f"dot: x has {x.size} elements, y {y.size}; they must be as many")
    dtype = np.result_type(x.dtype, y.dtype)
    products = da.map_blocks(
        partial(_dot_chunk, ops.dot),
        x,
        y.rechunk(x.chunks),
        chunks=((1,) * x.numblocks[0],),
        dtype=dtype,
        meta=np.empty(0, dtype),
    )
    return _sum(da, ops, (products,), None, dtype, False)


def _dot_chunk(dot: Callable[..., Any], x: Any, y: Any) -> Any:
    return dot(x, y).reshape(1)


def _matmul(da: ModuleType, ops: Any, arrays: Sequence[Any]) -> Any:
    a, b = arrays
    if (a.ndim, b.ndim) != (2, 2):
        raise ArgumentError(f"matmul: a has {a.ndim} dimensions, b {b.ndim}; of Dask arrays both have 2")
    if a.shape[1] != b.shape[0]:
        raise ArgumentError(f"matmul: {a.shape[1]} columns do not go with {b.shape[0]} rows")
    dtype = np.result_type(a.dtype, b.dtype)
    parts = da.blockwise(
        partial(_matmul_chunk, ops.matmul),
        "ikj",
        a,
        "ik",
        b.rechunk({0: a.chunks[1]}),
        "kj",
        adjust_chunks={"k": 1},
        dtype=dtype,
        meta=np.empty((0, 0, 0), dtype),
    )
    return _sum(da, ops, (parts,), 1, dtype, False)


def _matmul_chunk(matmul: Callable[..., Any], a: Any, b: Any) -> Any:
    return matmul(a, b)[:, None, :]


# ---------------------------------------------------------------------------------------- bins
def _histogram(da: ModuleType, ops: Any, arrays: Sequence[Any], *parameters: Any) -> tuple[Any, Any]:
    x = arrays[0].ravel()
    if len(arrays) > 1:
        edges = np.asarray(arrays[1])
    else:
        bins, ends = parameters
        lowest, highest = ends or (float(one) for one in da.compute(x.min(), x.max()))
        edges = np.histogram_bin_edges(np.empty(0), bins, (lowest, highest))
    counts = da.map_blocks(
        partial(_histogram_chunk, ops.histogram, edges),
        x,
        new_axis=1,
        dtype=np.int64,
        chunks=((1,) * x.numblocks[0], (edges.size - 1,)),
        meta=np.empty((0, 0), np.int64),
    )
    return _sum(da, ops, (counts,), 0, np.dtype(np.int64), False), edges


def _histogram_chunk(histogram: Callable[..., Any], edges: Any, x: Any) -> Any:
    return histogram(x, edges)[0][None, :]


# ---------------------------------------------------------------------------------------- neighbourhoods
def _convolve1d(da: ModuleType, ops: Any, arrays: Sequence[Any], axis: int, mode: str) -> Any:
    x, mask = arrays
    return _overlapped(da, partial(ops.convolve1d, axis=axis), x, mask, {axis % x.ndim: mask.size}, mode)


def _convolve2d(da: ModuleType, ops: Any, arrays: Sequence[Any], mode: str) -> Any:
    x, mask = arrays
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
    """Cut the sorted order into as many chunks as there are; each gathers its part of all.

    A first pass samples the chunks, a second counts what lies below each cut. Keys that are equal to a cut
    are shared out, so that chunks of one value stay as small as others.
    """
    (x,) = arrays
    if x.ndim > 1 and axis is not None:
        along = axis % x.ndim
        whole = x.rechunk({along: -1})
        return da.map_blocks(partial(ops.sort, axis=along), whole, dtype=x.dtype, meta=whole._meta)
    x = x.ravel()
    count = x.numblocks[0]
    dask = importlib.import_module("dask")
    chunks = x.to_delayed().ravel()
    ordered = [dask.delayed(ops.sort)(chunk) for chunk in chunks]
    samples = np.sort(np.concatenate(dask.compute(*[dask.delayed(_sample)(chunk) for chunk in ordered])))
    cuts = samples[np.linspace(0, samples.size, count + 1).astype(int)[1:-1]]
    below = np.array(dask.compute(*[dask.delayed(_ranks)(chunk, cuts) for chunk in ordered])).reshape(
        count, 2, count - 1
    )
    starts = _share(below, np.array(x.chunks[0]))
    parts = []
    for place in range(count):
        pieces = [
            dask.delayed(_piece)(chunk, *bounds)
            for chunk, bounds in zip(ordered, starts[:, place : place + 2].tolist(), strict=True)
        ]
        size = int((starts[:, place + 1] - starts[:, place]).sum())
        merged = dask.delayed(_merge)(ops.sort, pieces)
        parts.append(da.from_delayed(merged, (size,), dtype=x.dtype, meta=x._meta))
    return da.concatenate(parts)


def _sample(chunk: Any) -> np.ndarray[Any, Any]:
    step = max(1, len(chunk) // _SAMPLES)
    return _on_host(chunk[step // 2 :: step])


def _ranks(chunk: Any, cuts: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """How many keys of a sorted chunk come before each cut, and how many not after it."""
    keys = _on_host(chunk)
    return [np.searchsorted(keys, cuts, side) for side in ("left", "right")]


def _share(below: np.ndarray[Any, Any], sizes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Where each chunk is cut, for equal parts as far as keys equal to a cut allow it."""
    count, _, cuts = below.shape
    total = int(sizes.sum())
    starts = np.zeros((count, cuts + 2), np.int64)
    starts[:, -1] = sizes
    for cut in range(cuts):
        less, most = below[:, 0, cut], below[:, 1, cut]
        wanted = np.clip(total * (cut + 1) // (cuts + 1), less.sum(), most.sum()) - less.sum()
        equal = most - less
        taken = np.clip(wanted - (np.cumsum(equal) - equal), 0, equal)
        starts[:, cut + 1] = less + taken
    return starts


def _piece(chunk: Any, start: int, stop: int) -> Any:
    return chunk[start:stop]


def _merge(sort: Callable[..., Any], pieces: Sequence[Any]) -> Any:
    library = importlib.import_module(type(pieces[0]).__module__.partition(".")[0])
    return sort(library.concatenate(pieces))


def _on_host(array: Any) -> np.ndarray[Any, Any]:
    return array.get() if hasattr(array, "get") else np.asarray(array)


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "sum": _sum,
    "cumsum": _cumsum,
    "dot": _dot,
    "matmul": _matmul,
    "sort": _sort,
    "histogram": _histogram,
    "convolve1d": _convolve1d,
    "convolve2d": _convolve2d,
}
