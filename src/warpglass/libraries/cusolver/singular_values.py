"""Singular values: of one matrix (gesvd, gesvdj) and of batches (gesvdjBatched, gesvdaStridedBatched)."""

from __future__ import annotations

import numpy as np

from ..frame import Address, Device, Failed, Handle, Int, Int64, Session
from ..memory import Array
from .library import ALL, CUSOLVER, INVALID_VALUE

_JACOBI = "Handle Int Int Int {econ}Device Int Device Device Int Device Int >Address Handle"
CUSOLVER.sizes("cusolverDn{T}gesvd_bufferSize", ALL, "Handle Int Int >Address")
CUSOLVER.sizes("cusolverDn{T}gesvdj_bufferSize", ALL, _JACOBI.format(econ="Int "))
CUSOLVER.sizes("cusolverDn{T}gesvdjBatched_bufferSize", ALL, _JACOBI.format(econ="") + " Int")
CUSOLVER.sizes(
    "cusolverDn{T}gesvdaStridedBatched_bufferSize",
    ALL,
    "Handle Int Int Int Int Device Int Int64 Device Int64 Device Int Int64 Device Int Int64 >Address Int",
)


def decompose(matrix: Array, *, full: bool) -> tuple[Array, Array, Array]:
    """U, S and the conjugate transpose of V, computed in double precision; NaN where there is none."""
    wide = matrix.astype(np.result_type(matrix, "f8"))
    try:
        return np.linalg.svd(wide, full_matrices=full)
    except np.linalg.LinAlgError:
        m, n = matrix.shape
        k = min(m, n)
        nan = wide.dtype.type(np.nan)
        left, right = (m if full else k), (n if full else k)
        return np.full((m, left), nan), np.full(k, np.nan), np.full((right, n), nan)


@CUSOLVER.row(
    "cusolverDn{T}gesvd",
    ALL,
    kinds="Handle Byte Byte Int Int Device Int Device Device Int Device Int Device Int Device Device",
)
def gesvd(
    s: Session,
    handle: Handle,
    jobu: int,
    jobvt: int,
    m: Int,
    n: Int,
    a: Device,
    lda: Int,
    values: Device,
    u: Device,
    ldu: Int,
    vt: Device,
    ldvt: Int,
    work: Device,
    size: Int,
    rwork: Device,
    info: Device,
) -> None:
    put_singular(s, s.element, (jobu, jobvt), (m, n), (a, lda, values, u, ldu, vt, ldvt))
    s.memory.put(info, 0, "i4")


def put_singular(
    s: Session, kind: np.dtype, jobs: tuple[int, int], shape: tuple[int, int], places: tuple[int, ...]
) -> None:
    """A decomposition with LAPACK's jobs: A all, S as many as values, O in place of the matrix, N none."""
    m, n = shape
    if m < n:
        raise Failed(INVALID_VALUE, f"gesvd takes matrices of at least as many rows as columns, not {m}x{n}")
    a, lda, values, u, ldu, vt, ldvt = places
    matrix = s.memory.matrix(a, m, n, lda, kind)
    jobu, jobvt = map(chr, jobs)
    left, found, right = decompose(matrix, full="A" in (jobu, jobvt))
    real = kind.type(0).real.dtype
    s.memory.flat(values, n, real, written=True)[...] = found
    if jobu in "AS":
        columns = m if jobu == "A" else n
        s.memory.matrix(u, m, columns, ldu, kind, written=True)[...] = left[:, :columns]
    if jobvt in "AS":
        s.memory.matrix(vt, n, n, ldvt, kind, written=True)[...] = right
    if jobu == "O":
        matrix[...] = left[:, :n]
    elif jobvt == "O":
        matrix[:n] = right


def _put_jacobi(
    s: Session,
    vectors: int,
    econ: int,
    shape: tuple[int, int],
    places: tuple[int, ...],
    rank: int | None = None,
) -> Array:
    """A decomposition with V itself; returns the matrix."""
    m, n = shape
    a, lda, values, u, ldu, v, ldv = places
    matrix = s.memory.matrix(a, m, n, lda, s.element)
    left, found, right = decompose(matrix, full=not econ)
    count = len(found) if rank is None else min(rank, len(found))
    s.memory.flat(values, count, s.real, written=True)[...] = found[:count]
    if vectors:
        left = left if rank is None else left[:, :count]
        right = right if rank is None else right[:count]
        s.memory.matrix(u, m, left.shape[1], ldu, s.element, written=True)[...] = left
        s.memory.matrix(v, n, right.shape[0], ldv, s.element, written=True)[...] = right.conj().T
    return matrix


@CUSOLVER.row("cusolverDn{T}gesvdj", ALL)
def gesvdj(
    s: Session,
    handle: Handle,
    vectors: Int,
    econ: Int,
    m: Int,
    n: Int,
    a: Device,
    lda: Int,
    values: Device,
    u: Device,
    ldu: Int,
    v: Device,
    ldv: Int,
    work: Device,
    size: Int,
    info: Device,
    jacobi: Handle,
) -> None:
    _put_jacobi(s, vectors, econ, (m, n), (a, lda, values, u, ldu, v, ldv))
    s.memory.put(info, 0, "i4")


@CUSOLVER.row("cusolverDn{T}gesvdjBatched", ALL)
def gesvdj_batched(
    s: Session,
    handle: Handle,
    vectors: Int,
    m: Int,
    n: Int,
    a: Device,
    lda: Int,
    values: Device,
    u: Device,
    ldu: Int,
    v: Device,
    ldv: Int,
    work: Device,
    size: Int,
    info: Device,
    jacobi: Handle,
    count: Int,
) -> None:
    one, real = s.element.itemsize, s.real.itemsize
    for number in range(count):
        places = (
            *(a + number * lda * n * one, lda, values + number * min(m, n) * real),
            *(u + number * ldu * m * one, ldu, v + number * ldv * n * one, ldv),
        )
        _put_jacobi(s, vectors, 0, (m, n), places)
    s.memory.flat(info, count, "i4", written=True)[...] = 0


@CUSOLVER.row("cusolverDn{T}gesvdaStridedBatched", ALL)
def gesvda(
    s: Session,
    handle: Handle,
    vectors: Int,
    rank: Int,
    m: Int,
    n: Int,
    a: Device,
    lda: Int,
    stridea: Int64,
    values: Device,
    strides: Int64,
    u: Device,
    ldu: Int,
    strideu: Int64,
    v: Device,
    ldv: Int,
    stridev: Int64,
    work: Device,
    size: Int,
    info: Device,
    residuals: Address,
    count: Int,
) -> None:
    one, real = s.element.itemsize, s.real.itemsize
    for number in range(count):
        places = (
            *(a + number * stridea * one, lda, values + number * strides * real),
            *(u + number * strideu * one, ldu, v + number * stridev * one, ldv),
        )
        _put_jacobi(s, vectors, 1, (m, n), places, rank)
    s.memory.flat(info, count, "i4", written=True)[...] = 0
    if residuals:
        s.memory.flat(residuals, count, "f8")[...] = 0
