"""What cuSPARSE's descriptors stand for: sparse and dense vectors and matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..cublas.mixed import storage
from ..frame import Failed, Session
from ..lapack import scipy
from ..memory import Array
from .library import NOT_SUPPORTED

CSR, CSC, COO = 1, 2, 3  # cusparseFormat_t
COLUMNS, ROWS = 1, 2  # cusparseOrder_t
_INDICES = {1: "u2", 2: "i4", 3: "i8"}  # cusparseIndexType_t


@dataclass(eq=False)
class Description:
    """cusparseMatDescr_t: what older functions know of a matrix."""

    kind: int = 0
    fill: int = 0
    diagonal: int = 0
    base: int = 0


@dataclass(eq=False)
class Sparse:
    """A sparse matrix, or a batch of `count`; `first` and `second` are the arrays of its format: offsets or
    indices, and indices. From one matrix to the next are so many elements of `first`, and of the others.
    """

    form: int
    rows: int
    columns: int
    nonzero: int
    first: int
    second: int
    values: int
    first_type: int
    second_type: int
    base: int
    kind: int
    attributes: tuple[int, int] = (0, 0)  # fill mode and diagonal type
    count: int = 1
    steps: tuple[int, int] = (0, 0)

    def arrays(self, s: Session, number: int = 0, *, written: bool = False) -> tuple[Array, Array, Array]:
        """Values, which may be written, and the two arrays of indices, of one of the batch."""
        long = {CSR: self.rows + 1, CSC: self.columns + 1}.get(self.form, self.nonzero)
        firsts, others = (number * step for step in self.steps)
        kinds = storage(self.kind), np.dtype(_INDICES[self.first_type]), np.dtype(_INDICES[self.second_type])
        places = (
            address + step * kind.itemsize
            for address, step, kind in zip(
                (self.values, self.first, self.second), (others, firsts, others), kinds, strict=True
            )
        )
        values, first, second = places
        return (
            s.memory.flat(values, self.nonzero, kinds[0], written=written),
            s.memory.flat(first, long, kinds[1]),
            s.memory.flat(second, self.nonzero, kinds[2]),
        )

    def matrix(self, s: Session, number: int = 0) -> Any:
        """A matrix of the batch as SciPy has it, in compressed rows."""
        sparse = scipy(s, "sparse")
        values, first, second = self.arrays(s, number)
        shape = self.rows, self.columns
        base = self.base
        if self.form == CSR:
            return sparse.csr_matrix((values, second - base, first - base), shape=shape)
        if self.form == CSC:
            return sparse.csc_matrix((values, second - base, first - base), shape=shape).tocsr()
        if self.form == COO:
            return sparse.coo_matrix((values, (first - base, second - base)), shape=shape).tocsr()
        raise Failed(NOT_SUPPORTED, f"sparse matrices of format {self.form} are not supported")

    def store(self, s: Session, matrix: Any) -> None:
        """Write a matrix of SciPy's into the arrays, which have room for it."""
        if self.form == COO:
            matrix = matrix.tocoo()
            first, second = matrix.row, matrix.col
        else:
            matrix = matrix.tocsr() if self.form == CSR else matrix.tocsc()
            matrix.sort_indices()
            first, second = matrix.indptr, matrix.indices
        targets = (
            (self.values, matrix.data, storage(self.kind)),
            (self.first, first + self.base, _INDICES[self.first_type]),
            (self.second, second + self.base, _INDICES[self.second_type]),
        )
        for place, content, kind in targets:
            if place:
                s.memory.flat(place, len(content), kind, written=True)[...] = content


@dataclass(eq=False)
class SparseVector:
    """A sparse vector."""

    size: int
    nonzero: int
    indices: int
    values: int
    index_type: int
    base: int
    kind: int

    def places(self, s: Session) -> Array:
        """The indices, from 0."""
        return s.memory.flat(self.indices, self.nonzero, _INDICES[self.index_type]) - self.base

    def content(self, s: Session, *, written: bool = False) -> Array:
        """The values."""
        return s.memory.flat(self.values, self.nonzero, storage(self.kind), written=written)


@dataclass(eq=False)
class Vector:
    """A dense vector."""

    size: int
    values: int
    kind: int

    def content(self, s: Session, *, written: bool = False) -> Array:
        """The elements."""
        return s.memory.flat(self.values, self.size, storage(self.kind), written=written)


@dataclass(eq=False)
class Matrix:
    """A dense matrix, or a batch of them."""

    rows: int
    columns: int
    leading: int
    values: int
    kind: int
    order: int
    count: int = 1
    stride: int = 0

    def content(self, s: Session, number: int = 0, *, written: bool = False) -> Array:
        """The elements of one of the batch."""
        dtype = storage(self.kind)
        place = self.values + number * self.stride * dtype.itemsize
        shape = (self.rows, self.columns) if self.order == COLUMNS else (self.columns, self.rows)
        found = s.memory.matrix(place, *shape, self.leading, dtype, written=written)
        return found if self.order == COLUMNS else found.T


def older(s: Session, m: int, n: int, nnz: int, base: int, parts: tuple[int, int, int]) -> Any:
    """A matrix in compressed rows as older functions pass it: addresses of values, offsets and indices."""
    values, offsets, indices = parts
    return scipy(s, "sparse").csr_matrix(
        (
            s.memory.flat(values, nnz, s.element) if values else np.ones(nnz),
            s.memory.flat(indices, nnz, "i4") - base,
            s.memory.flat(offsets, m + 1, "i4") - base,
        ),
        shape=(m, n),
    )
