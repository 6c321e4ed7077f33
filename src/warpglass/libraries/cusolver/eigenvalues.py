"""Eigenvalues of symmetric and Hermitian matrices (syevd, heevd, syevj, heevj) and of pairs (sygvd)."""

from __future__ import annotations

import numpy as np

from ..cublas.context import whole
from ..frame import Device, Handle, Int, Session
from ..lapack import scipy
from ..memory import Array
from .library import COMPLEX, CUSOLVER, REAL

_PLAIN = "Handle Int Int Int Device Int Device >Address"
for _letters, _pattern in ((REAL, "sy"), (COMPLEX, "he")):
    CUSOLVER.sizes(f"cusolverDn{{T}}{_pattern}evd_bufferSize", _letters, _PLAIN)
    CUSOLVER.sizes(f"cusolverDn{{T}}{_pattern}evj_bufferSize", _letters, _PLAIN + " Handle")
    CUSOLVER.sizes(f"cusolverDn{{T}}{_pattern}evjBatched_bufferSize", _letters, _PLAIN + " Handle Int")
    CUSOLVER.sizes(
        f"cusolverDn{{T}}{_pattern}gvd_bufferSize",
        _letters,
        "Handle Int Int Int Int Device Int Device Int Device >Address",
    )


def put_eigenvalues(s: Session, matrix: Array, upper: int, vectors: int, values: int) -> int:
    """Ascending eigenvalues go to an address, eigenvectors take the matrix's place; returns the status."""
    n = len(matrix)
    if not n:
        return 0
    real = matrix.dtype.type(0).real.dtype
    wide = whole(matrix, upper, hermitian=True).astype(np.result_type(matrix, "f8"))
    target = s.memory.flat(values, n, real, written=True)
    try:
        found, directions = np.linalg.eigh(wide)
    except np.linalg.LinAlgError:
        target[...] = np.nan
        return n
    target[...] = found
    if vectors:
        matrix[...] = directions
    return 0


@CUSOLVER.row("cusolverDn{T}syevd", REAL)
def syevd(
    s: Session,
    handle: Handle,
    vectors: Int,
    uplo: Int,
    n: Int,
    a: Device,
    lda: Int,
    values: Device,
    work: Device,
    size: Int,
    info: Device,
) -> None:
    matrix = s.memory.matrix(a, n, n, lda, s.element)
    s.memory.put(info, put_eigenvalues(s, matrix, uplo, vectors, values), "i4")


CUSOLVER.row("cusolverDn{T}heevd", COMPLEX)(syevd)


@CUSOLVER.row("cusolverDn{T}syevj", REAL)
def syevj(
    s: Session,
    handle: Handle,
    vectors: Int,
    uplo: Int,
    n: Int,
    a: Device,
    lda: Int,
    values: Device,
    work: Device,
    size: Int,
    info: Device,
    jacobi: Handle,
) -> None:
    syevd(s, handle, vectors, uplo, n, a, lda, values, work, size, info)


CUSOLVER.row("cusolverDn{T}heevj", COMPLEX)(syevj)


@CUSOLVER.row("cusolverDn{T}syevjBatched", REAL)
def syevj_batched(
    s: Session,
    handle: Handle,
    vectors: Int,
    uplo: Int,
    n: Int,
    a: Device,
    lda: Int,
    values: Device,
    work: Device,
    size: Int,
    info: Device,
    jacobi: Handle,
    count: Int,
) -> None:
    found = s.memory.flat(info, count, "i4", written=True)
    for number in range(count):
        matrix = s.memory.matrix(a + number * lda * n * s.element.itemsize, n, n, lda, s.element)
        place = values + number * n * s.real.itemsize
        found[number] = put_eigenvalues(s, matrix, uplo, vectors, place)


CUSOLVER.row("cusolverDn{T}heevjBatched", COMPLEX)(syevj_batched)


@CUSOLVER.row("cusolverDn{T}sygvd", REAL)
def sygvd(
    s: Session,
    handle: Handle,
    problem: Int,
    vectors: Int,
    uplo: Int,
    n: Int,
    a: Device,
    lda: Int,
    b: Device,
    ldb: Int,
    values: Device,
    work: Device,
    size: Int,
    info: Device,
) -> None:
    one, two = s.memory.matrix(a, n, n, lda, s.element), s.memory.matrix(b, n, n, ldb, s.element)
    left, right = whole(one, uplo, hermitian=True), whole(two, uplo, hermitian=True)
    found, directions = scipy(s, "linalg").eigh(left, right, type=problem)
    s.memory.flat(values, n, s.real, written=True)[...] = found
    if vectors:
        one[...] = directions
    s.memory.put(info, 0, "i4")


CUSOLVER.row("cusolverDn{T}hegvd", COMPLEX)(sygvd)
