"""Batches of factorisations: LU, its solutions and inverses, QR, least squares. They need SciPy."""

from __future__ import annotations

import numpy as np

from ..frame import Address, Count, Device, Failed, Handle, Int, Session
from ..lapack import factor, lapack, solve_factored
from .context import CUBLAS, not_negative
from .level1 import ALL


@CUBLAS.row("cublas{T}getrfBatched", ALL)
def getrf(
    s: Session, handle: Handle, n: Count, a: Device, lda: Count, pivots: Device, info: Device, count: Count
) -> None:
    not_negative(n, count)
    found = s.memory.flat(info, count, "i4", written=True)
    for number, place in enumerate(s.memory.pointers(a, count)):
        matrix = s.memory.matrix(place, n, n, lda, s.element)
        order, found[number] = factor(s, matrix, pivot=pivots != 0)
        if pivots:
            s.memory.flat(pivots + 4 * n * number, n, "i4", written=True)[...] = order


def _pivots(s: Session, pivots: int, n: int, number: int) -> np.ndarray:
    if not pivots:
        return np.arange(1, n + 1, dtype="i4")
    return s.memory.flat(pivots + 4 * n * number, n, "i4")


@CUBLAS.row("cublas{T}getrsBatched", ALL)
def getrs(
    s: Session,
    handle: Handle,
    trans: Int,
    n: Count,
    nrhs: Count,
    a: Device,
    lda: Count,
    pivots: Device,
    b: Device,
    ldb: Count,
    info: Address,
    count: Count,
) -> None:
    pairs = zip(s.memory.pointers(a, count), s.memory.pointers(b, count), strict=True)
    for number, (x, y) in enumerate(pairs):
        right = s.memory.matrix(y, n, nrhs, ldb, s.element)
        factors = s.memory.matrix(x, n, n, lda, s.element)
        right[...] = solve_factored(s, factors, _pivots(s, pivots, n, number), right, trans)
    s.memory.put(info, 0, "i4")


@CUBLAS.row("cublas{T}getriBatched", ALL)
def getri(
    s: Session,
    handle: Handle,
    n: Count,
    a: Device,
    lda: Count,
    pivots: Device,
    c: Device,
    ldc: Count,
    info: Device,
    count: Count,
) -> None:
    found = s.memory.flat(info, count, "i4", written=True)
    pairs = zip(s.memory.pointers(a, count), s.memory.pointers(c, count), strict=True)
    for number, (x, y) in enumerate(pairs):
        factors = s.memory.matrix(x, n, n, lda, s.element)
        zeros = np.flatnonzero(np.diag(factors) == 0)
        found[number] = 1 + zeros[0] if len(zeros) else 0
        if not len(zeros):
            result = s.memory.matrix(y, n, n, ldc, s.element, written=True)
            identity = np.eye(n, dtype=s.element)
            result[...] = solve_factored(s, factors, _pivots(s, pivots, n, number), identity, 0)


@CUBLAS.row("cublas{T}matinvBatched", ALL)
def matinv(
    s: Session,
    handle: Handle,
    n: Count,
    a: Device,
    lda: Count,
    c: Device,
    ldc: Count,
    info: Device,
    count: Count,
) -> None:
    found = s.memory.flat(info, count, "i4", written=True)
    pairs = zip(s.memory.pointers(a, count), s.memory.pointers(c, count), strict=True)
    for number, (x, y) in enumerate(pairs):
        factors = s.memory.matrix(x, n, n, lda, s.element).copy()
        order, found[number] = factor(s, factors)
        if not found[number]:
            result = s.memory.matrix(y, n, n, ldc, s.element, written=True)
            result[...] = solve_factored(s, factors, order, np.eye(n, dtype=s.element), 0)


@CUBLAS.row("cublas{T}geqrfBatched", ALL)
def geqrf(
    s: Session,
    handle: Handle,
    m: Count,
    n: Count,
    a: Device,
    lda: Count,
    tau: Device,
    info: Address,
    count: Count,
) -> None:
    for x, y in zip(s.memory.pointers(a, count), s.memory.pointers(tau, count), strict=True):
        matrix = s.memory.matrix(x, m, n, lda, s.element)
        found, factors, _, _ = lapack(s, "geqrf")(matrix)
        matrix[...] = found
        s.memory.flat(y, min(m, n), s.element, written=True)[...] = factors
    s.memory.put(info, 0, "i4")


@CUBLAS.row("cublas{T}gelsBatched", ALL)
def gels(
    s: Session,
    handle: Handle,
    trans: Int,
    m: Count,
    n: Count,
    nrhs: Count,
    a: Device,
    lda: Count,
    c: Device,
    ldc: Count,
    info: Address,
    singular: Device,
    count: Count,
) -> None:
    if trans or m < n:
        raise Failed(s.library.statuses.not_supported, "gelsBatched has systems A x = b with m >= n only")
    found = s.memory.flat(singular, count, "i4", written=True) if singular else np.zeros(count, "i4")
    for number, (x, y) in enumerate(
        zip(s.memory.pointers(a, count), s.memory.pointers(c, count), strict=True)
    ):
        matrix = s.memory.matrix(x, m, n, lda, s.element)
        right = s.memory.matrix(y, m, nrhs, ldc, s.element)
        matrix[...], solution, found[number] = lapack(s, "gels")(matrix, right)
        if not found[number]:
            right[...] = solution
    s.memory.put(info, 0, "i4")
