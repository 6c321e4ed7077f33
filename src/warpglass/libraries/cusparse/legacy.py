"""Older functions on matrices in compressed rows: sums, counts of nonzero elements, compression."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..frame import Address, Device, Handle, Int, Session
from ..memory import Array
from .library import ALL, CUSPARSE
from .objects import Description, older

CUSPARSE.sizes(
    "cusparse{T}csrgeam2_bufferSizeExt",
    ALL,
    "Handle Int Int Address Handle Int Device Device Device Address Handle Int Device Device Device Handle "
    "Device Device Device >Address",
    ctypes.c_size_t,
)


def _pattern_of_sum(s: Session, m: int, n: int, sides: tuple[tuple[int, int, int, int], ...]) -> Any:
    """The pattern of a sum: elements that cancel each other stay."""
    total: Any = None
    for description, nnz, offsets, indices in sides:
        one = older(s, m, n, nnz, s.get(description, Description).base, (0, offsets, indices))
        one.data[...] = 1
        total = one if total is None else total + one
    total.sort_indices()
    return total


@CUSPARSE.row("cusparseXcsrgeam2Nnz")
def count_sum(
    s: Session,
    handle: Handle,
    m: Int,
    n: Int,
    description_a: Handle,
    nnz_a: Int,
    offsets_a: Device,
    indices_a: Device,
    description_b: Handle,
    nnz_b: Int,
    offsets_b: Device,
    indices_b: Device,
    description_c: Handle,
    offsets_c: Device,
    total: Address,
    work: Device,
) -> None:
    sides = (description_a, nnz_a, offsets_a, indices_a), (description_b, nnz_b, offsets_b, indices_b)
    found = _pattern_of_sum(s, m, n, sides)
    base = s.get(description_c, Description).base
    s.memory.flat(offsets_c, m + 1, "i4", written=True)[...] = found.indptr + base
    s.memory.put(total, found.nnz, "i4")


@CUSPARSE.row("cusparse{T}csrgeam2", ALL)
def geam(
    s: Session,
    handle: Handle,
    m: Int,
    n: Int,
    alpha: Address,
    description_a: Handle,
    nnz_a: Int,
    values_a: Device,
    offsets_a: Device,
    indices_a: Device,
    beta: Address,
    description_b: Handle,
    nnz_b: Int,
    values_b: Device,
    offsets_b: Device,
    indices_b: Device,
    description_c: Handle,
    values_c: Device,
    offsets_c: Device,
    indices_c: Device,
    work: Device,
) -> None:
    sides = (description_a, nnz_a, offsets_a, indices_a), (description_b, nnz_b, offsets_b, indices_b)
    pattern = _pattern_of_sum(s, m, n, sides).astype(s.element)
    one = older(
        s, m, n, nnz_a, s.get(description_a, Description).base, (values_a, offsets_a, indices_a)
    ) * s.memory.scalar(alpha, s.element)
    two = older(
        s, m, n, nnz_b, s.get(description_b, Description).base, (values_b, offsets_b, indices_b)
    ) * s.memory.scalar(beta, s.element)
    found = (one + two).tocoo()
    rows = np.repeat(np.arange(m), np.diff(pattern.indptr))
    place = np.searchsorted(rows * n + pattern.indices, found.row.astype("i8") * n + found.col)
    values = np.zeros(pattern.nnz, s.element)
    np.add.at(values, place, found.data)
    base = s.get(description_c, Description).base
    s.memory.flat(values_c, pattern.nnz, s.element, written=True)[...] = values
    s.memory.flat(indices_c, pattern.nnz, "i4", written=True)[...] = pattern.indices + base


@CUSPARSE.row("cusparse{T}nnz", ALL)
def nnz(
    s: Session,
    handle: Handle,
    by_column: Int,
    m: Int,
    n: Int,
    description: Handle,
    a: Device,
    lda: Int,
    counts: Device,
    total: Address,
) -> None:
    found = np.count_nonzero(s.memory.matrix(a, m, n, lda, s.element), axis=0 if by_column else 1)
    s.memory.flat(counts, len(found), "i4", written=True)[...] = found
    s.memory.put(total, found.sum(), "i4")


def _larger(values: Array, tolerance: complex) -> Array:
    return np.abs(values) > abs(tolerance)


def _compression(letters: str, real: str) -> None:
    @CUSPARSE.row(
        "cusparse{T}nnz_compress", letters, kinds=f"Handle Int Handle Device Device Device Address {real}"
    )
    def count(
        s: Session,
        handle: int,
        m: int,
        description: int,
        values: int,
        offsets: int,
        counts: int,
        total: int,
        tolerance: float,
    ) -> None:
        lines = s.memory.flat(offsets, m + 1, "i4") - s.get(description, Description).base
        kept = _larger(s.memory.flat(values, int(lines[-1]), s.element), tolerance)
        sums = np.concatenate([[0], np.cumsum(kept)])
        found = sums[lines[1:]] - sums[lines[:-1]]
        s.memory.flat(counts, m, "i4", written=True)[...] = found
        s.memory.put(total, found.sum(), "i4")

    @CUSPARSE.row(
        "cusparse{T}csr2csr_compress",
        letters,
        kinds=f"Handle Int Int Handle Device Device Device Int Device Device Device Device {real}",
    )
    def compress(
        s: Session,
        handle: int,
        m: int,
        n: int,
        description: int,
        values: int,
        columns: int,
        offsets: int,
        count: int,
        counts: int,
        new_values: int,
        new_columns: int,
        new_offsets: int,
        tolerance: float,
    ) -> None:
        base = s.get(description, Description).base
        content = s.memory.flat(values, count, s.element)
        kept = np.flatnonzero(_larger(content, tolerance))
        s.memory.flat(new_values, len(kept), s.element, written=True)[...] = content[kept]
        indices = s.memory.flat(columns, count, "i4")[kept]
        s.memory.flat(new_columns, len(kept), "i4", written=True)[...] = indices
        lines = base + np.concatenate([[0], np.cumsum(s.memory.flat(counts, m, "i4"))])
        s.memory.flat(new_offsets, m + 1, "i4", written=True)[...] = lines


_compression("S", "Single")
_compression("D", "Double")
