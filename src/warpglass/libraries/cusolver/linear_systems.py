"""Linear systems: factorisations (Cholesky potrf, LU getrf, symmetric sytrf) and solutions by them."""

from __future__ import annotations

import numpy as np

from ..frame import Device, Handle, Int, Session
from ..lapack import factor, lapack, solve_factored
from ..memory import Array
from .library import ALL, CUSOLVER

CUSOLVER.sizes("cusolverDn{T}potrf_bufferSize", ALL, "Handle Int Int Device Int >Address")
CUSOLVER.sizes("cusolverDn{T}potri_bufferSize", ALL, "Handle Int Int Device Int >Address")
CUSOLVER.sizes("cusolverDn{T}getrf_bufferSize", ALL, "Handle Int Int Device Int >Address")
CUSOLVER.sizes("cusolverDn{T}sytrf_bufferSize", ALL, "Handle Int Device Int >Address")


def cholesky(s: Session, matrix: Array, upper: int) -> int:
    """Factor in place; returns the first minor that is not positive definite, 0 for none."""
    if not len(matrix):
        return 0
    found, info = lapack(s, "potrf", matrix.dtype)(matrix, lower=not upper, clean=0)
    matrix[...] = found
    return info


def solve_cholesky(s: Session, factors: Array, right: Array, upper: int) -> None:
    """Solve by the factor of Cholesky, in place."""
    if right.size:
        right[...] = lapack(s, "potrs", right.dtype)(factors, right, lower=not upper)[0]


@CUSOLVER.row("cusolverDn{T}potrf", ALL)
def potrf(
    s: Session, handle: Handle, uplo: Int, n: Int, a: Device, lda: Int, work: Device, size: Int, info: Device
) -> None:
    s.memory.put(info, cholesky(s, s.memory.matrix(a, n, n, lda, s.element), uplo), "i4")


@CUSOLVER.row("cusolverDn{T}potrs", ALL)
def potrs(
    s: Session,
    handle: Handle,
    uplo: Int,
    n: Int,
    nrhs: Int,
    a: Device,
    lda: Int,
    b: Device,
    ldb: Int,
    info: Device,
) -> None:
    right = s.memory.matrix(b, n, nrhs, ldb, s.element)
    solve_cholesky(s, s.memory.matrix(a, n, n, lda, s.element), right, uplo)
    s.memory.put(info, 0, "i4")


@CUSOLVER.row("cusolverDn{T}potri", ALL)
def potri(
    s: Session, handle: Handle, uplo: Int, n: Int, a: Device, lda: Int, work: Device, size: Int, info: Device
) -> None:
    matrix = s.memory.matrix(a, n, n, lda, s.element)
    found, status = lapack(s, "potri")(matrix, lower=not uplo)
    place = np.triu_indices(n) if uplo else np.tril_indices(n)
    matrix[place] = found[place]
    s.memory.put(info, status, "i4")


@CUSOLVER.row("cusolverDn{T}potrfBatched", ALL)
def potrf_batched(
    s: Session, handle: Handle, uplo: Int, n: Int, a: Device, lda: Int, info: Device, count: Int
) -> None:
    found = s.memory.flat(info, count, "i4", written=True)
    for number, place in enumerate(s.memory.pointers(a, count)):
        found[number] = cholesky(s, s.memory.matrix(place, n, n, lda, s.element), uplo)


@CUSOLVER.row("cusolverDn{T}potrsBatched", ALL)
def potrs_batched(
    s: Session,
    handle: Handle,
    uplo: Int,
    n: Int,
    nrhs: Int,
    a: Device,
    lda: Int,
    b: Device,
    ldb: Int,
    info: Device,
    count: Int,
) -> None:
    for x, y in zip(s.memory.pointers(a, count), s.memory.pointers(b, count), strict=True):
        right = s.memory.matrix(y, n, nrhs, ldb, s.element)
        solve_cholesky(s, s.memory.matrix(x, n, n, lda, s.element), right, uplo)
    s.memory.put(info, 0, "i4")


@CUSOLVER.row("cusolverDn{T}getrf", ALL)
def getrf(
    s: Session,
    handle: Handle,
    m: Int,
    n: Int,
    a: Device,
    lda: Int,
    work: Device,
    pivots: Device,
    info: Device,
) -> None:
    order, status = factor(s, s.memory.matrix(a, m, n, lda, s.element), pivot=pivots != 0)
    if pivots:
        s.memory.flat(pivots, min(m, n), "i4", written=True)[...] = order
    s.memory.put(info, status, "i4")


@CUSOLVER.row("cusolverDn{T}getrs", ALL)
def getrs(
    s: Session,
    handle: Handle,
    trans: Int,
    n: Int,
    nrhs: Int,
    a: Device,
    lda: Int,
    pivots: Device,
    b: Device,
    ldb: Int,
    info: Device,
) -> None:
    right = s.memory.matrix(b, n, nrhs, ldb, s.element)
    order = s.memory.flat(pivots, n, "i4") if pivots else np.arange(1, n + 1, dtype="i4")
    right[...] = solve_factored(s, s.memory.matrix(a, n, n, lda, s.element), order, right, trans)
    s.memory.put(info, 0, "i4")


@CUSOLVER.row("cusolverDn{T}sytrf", ALL)
def sytrf(
    s: Session,
    handle: Handle,
    uplo: Int,
    n: Int,
    a: Device,
    lda: Int,
    pivots: Device,
    work: Device,
    size: Int,
    info: Device,
) -> None:
    matrix = s.memory.matrix(a, n, n, lda, s.element)
    found, order, status = lapack(s, "sytrf")(matrix, lower=not uplo)
    place = np.triu_indices(n) if uplo else np.tril_indices(n)
    matrix[place] = found[place]
    if pivots:
        s.memory.flat(pivots, n, "i4", written=True)[...] = order
    s.memory.put(info, status, "i4")
