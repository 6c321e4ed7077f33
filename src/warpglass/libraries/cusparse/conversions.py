"""Sorting indices and converting between formats."""

from __future__ import annotations

import ctypes

import numpy as np

from ..cublas.mixed import storage
from ..frame import Device, Handle, Int, Session
from ..memory import Array
from .library import CUSPARSE

_SIZE = ctypes.c_size_t
for _name, _kinds in (
    ("Xcoosort_bufferSizeExt", "Handle Int Int Int Device Device >Address"),
    ("Xcsrsort_bufferSizeExt", "Handle Int Int Int Device Device >Address"),
    ("Xcscsort_bufferSizeExt", "Handle Int Int Int Device Device >Address"),
    (
        "Csr2cscEx2_bufferSize",
        "Handle Int Int Int Device Device Device Device Device Device Int Int Int Int >Address",
    ),
):
    CUSPARSE.sizes(f"cusparse{_name}", "", _kinds, _SIZE)


@CUSPARSE.row("cusparseCreateIdentityPermutation")
def identity(s: Session, handle: Handle, n: Int, place: Device) -> None:
    s.memory.flat(place, n, "i4", written=True)[...] = np.arange(n)


def _reorder(s: Session, order: Array, places: tuple[int, ...]) -> None:
    for place in places:
        if place:
            content = s.memory.flat(place, len(order), "i4", written=True)
            content[...] = content[order]


@CUSPARSE.row("cusparseXcoosortByRow")
def sort_by_row(
    s: Session,
    handle: Handle,
    m: Int,
    n: Int,
    nnz: Int,
    rows: Device,
    columns: Device,
    p: Device,
    work: Device,
) -> None:
    keys = s.memory.flat(columns, nnz, "i4"), s.memory.flat(rows, nnz, "i4")
    _reorder(s, np.lexsort(keys), (rows, columns, p))


@CUSPARSE.row("cusparseXcoosortByColumn")
def sort_by_column(
    s: Session,
    handle: Handle,
    m: Int,
    n: Int,
    nnz: Int,
    rows: Device,
    columns: Device,
    p: Device,
    work: Device,
) -> None:
    keys = s.memory.flat(rows, nnz, "i4"), s.memory.flat(columns, nnz, "i4")
    _reorder(s, np.lexsort(keys), (rows, columns, p))


def _sort_within(s: Session, lines: int, nnz: int, offsets: int, indices: int, p: int) -> None:
    counts = np.diff(s.memory.flat(offsets, lines + 1, "i4"))
    line = np.repeat(np.arange(lines), counts)
    _reorder(s, np.lexsort((s.memory.flat(indices, nnz, "i4"), line)), (indices, p))


@CUSPARSE.row("cusparseXcsrsort")
def sort_csr(
    s: Session,
    handle: Handle,
    m: Int,
    n: Int,
    nnz: Int,
    description: Handle,
    offsets: Device,
    indices: Device,
    p: Device,
    work: Device,
) -> None:
    _sort_within(s, m, nnz, offsets, indices, p)


@CUSPARSE.row("cusparseXcscsort")
def sort_csc(
    s: Session,
    handle: Handle,
    m: Int,
    n: Int,
    nnz: Int,
    description: Handle,
    offsets: Device,
    indices: Device,
    p: Device,
    work: Device,
) -> None:
    _sort_within(s, n, nnz, offsets, indices, p)


@CUSPARSE.row("cusparseXcoo2csr")
def coo_to_csr(
    s: Session, handle: Handle, rows: Device, nnz: Int, m: Int, offsets: Device, base: Int
) -> None:
    counts = np.bincount(s.memory.flat(rows, nnz, "i4") - base, minlength=m)
    target = s.memory.flat(offsets, m + 1, "i4", written=True)
    target[0] = base
    target[1:] = base + np.cumsum(counts)


@CUSPARSE.row("cusparseXcsr2coo")
def csr_to_coo(
    s: Session, handle: Handle, offsets: Device, nnz: Int, m: Int, rows: Device, base: Int
) -> None:
    counts = np.diff(s.memory.flat(offsets, m + 1, "i4"))
    s.memory.flat(rows, nnz, "i4", written=True)[...] = base + np.repeat(np.arange(m), counts)


@CUSPARSE.row("cusparseCsr2cscEx2")
def csr_to_csc(
    s: Session,
    handle: Handle,
    m: Int,
    n: Int,
    nnz: Int,
    values: Device,
    offsets: Device,
    columns: Device,
    csc_values: Device,
    csc_offsets: Device,
    csc_rows: Device,
    kind: Int,
    numeric: Int,
    base: Int,
    algorithm: Int,
    work: Device,
) -> None:
    rows = np.repeat(np.arange(m), np.diff(s.memory.flat(offsets, m + 1, "i4")))
    indices = s.memory.flat(columns, nnz, "i4") - base
    order = np.argsort(indices, kind="stable")
    s.memory.flat(csc_rows, nnz, "i4", written=True)[...] = base + rows[order]
    target = s.memory.flat(csc_offsets, n + 1, "i4", written=True)
    target[0] = base
    target[1:] = base + np.cumsum(np.bincount(indices, minlength=n))
    if numeric:
        content = s.memory.flat(values, nnz, storage(kind))
        s.memory.flat(csc_values, nnz, storage(kind), written=True)[...] = content[order]
