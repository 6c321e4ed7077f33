"""The problem of the transpose ladder: b[j, i] = a[i, j] for a matrix of any shape.

Nothing is computed, so results must be equal. A matrix of size n has n rows and n + 3 * (n // 8) columns:
rows and columns are different numbers, and for odd n neither is a multiple of a tile.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from ..inputs import columns_of
from ..problem import Array, Case, Expected, Peer, Problem, Question, Table
from ..rung import LaunchShape

TILE = 32  # elements on a side; a block has 32 x 8 threads, each for four elements


def make_case(question: Question) -> Case:
    """Return a matrix and room for its transpose."""
    rows, columns = question.size, columns_of(question.size)
    a = _input(question, (rows, columns))

    @cache
    def transposed() -> Array:
        return np.ascontiguousarray(a.T)

    def expected(depth: int) -> Mapping[str, Expected]:
        return {"b": Expected(transposed())}

    return Case(
        question=question,
        arrays={"a": a, "b": np.zeros((columns, rows), a.dtype)},
        written=("b",),
        outputs=("b",),
        scalars={"rows": np.uint32(rows), "columns": np.uint32(columns)},
        expected=expected,
        ideal_bytes=2 * a.nbytes,
        ideal_flops=0,
    )


def _input(question: Question, shape: tuple[int, int]) -> Array:
    """numbered: elements tell where they came from. random: any bits, NaN among the floats."""
    dtype = question.dtype
    if question.data == "numbered":
        return np.arange(shape[0] * shape[1]).astype(dtype).reshape(shape)
    rng = np.random.default_rng(question.seed)
    return np.frombuffer(rng.bytes(shape[0] * shape[1] * dtype.itemsize), dtype).reshape(shape)


def tiles(case: Case, block: int) -> LaunchShape:
    """A block of 32 x 8 threads for every 32 x 32 elements."""
    columns = columns_of(case.size)
    return LaunchShape((max(1, -(-columns // TILE)), max(1, -(-case.size // TILE))), (TILE, 8))


def _transpose(library: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"b": library.ascontiguousarray(arrays["a"].T)}


def _transpose_torch(torch: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"b": arrays["a"].t().contiguous()}


def _describe(case: Case) -> str:
    return f"{case.size} x {columns_of(case.size)} x {case.dtype.name}"


PROBLEM = Problem(
    name="transpose",
    title="Transposing a matrix: strided stores, a tile in shared memory, a tile without bank conflicts",
    tables={"transpose": Table("Transpose", 1024, "float32", 256, small=133, on_gpu=8192)},
    dtypes=("float32", "float64", "int32", "int64", "uint8", "uint16"),
    data=("numbered", "random"),
    make=make_case,
    signature=("a", "b", "rows", "columns"),
    shape=tiles,
    size_means="rows (columns: rows + 3 * (rows // 8))",
    describe=_describe,
    largest=32768,  # elements are counted in unsigned 32-bit integers
    blocks=(256,),
    peers=(
        Peer("numpy", "np.ascontiguousarray(a.T)", _transpose),
        Peer("cupy", "cupy.ascontiguousarray(a.T)", _transpose),
        Peer("torch", "a.t().contiguous()", _transpose_torch),
    ),
)
