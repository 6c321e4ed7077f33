"""Matrices and vectors (level 2): products, updates of rank 1 and 2, triangular solutions."""

from __future__ import annotations

import numpy as np

from ..frame import Address, Count, Device, Handle, Int, Session
from ..memory import Array
from .context import CUBLAS, not_negative, op, put_triangle, triangle, whole
from .level1 import ALL, COMPLEX, REAL


def accumulate(target: Array, value: Array, alpha: complex, beta: complex) -> None:
    """target = alpha value + beta target; what beta = 0 makes irrelevant is not read."""
    target[...] = alpha * value if beta == 0 else alpha * value + beta * target


@CUBLAS.row("cublas{T}gemv_v2", ALL)
def gemv(
    s: Session,
    handle: Handle,
    trans: Int,
    m: Count,
    n: Count,
    alpha: Address,
    a: Device,
    lda: Count,
    x: Device,
    incx: Count,
    beta: Address,
    y: Device,
    incy: Count,
) -> None:
    not_negative(m, n)
    matrix = op(s.memory.matrix(a, m, n, lda, s.element), trans)
    result = s.memory.vector(y, matrix.shape[0], incy, s.element, written=True)
    product = matrix @ s.memory.vector(x, matrix.shape[1], incx, s.element)
    accumulate(result, product, s.memory.scalar(alpha, s.element), s.memory.scalar(beta, s.element))


@CUBLAS.row("cublas{T}ger_v2", REAL)
def ger(
    s: Session,
    handle: Handle,
    m: Count,
    n: Count,
    alpha: Address,
    x: Device,
    incx: Count,
    y: Device,
    incy: Count,
    a: Device,
    lda: Count,
) -> None:
    matrix = s.memory.matrix(a, m, n, lda, s.element)
    left, right = s.memory.vector(x, m, incx, s.element), s.memory.vector(y, n, incy, s.element)
    matrix += s.memory.scalar(alpha, s.element) * np.outer(left, right)


CUBLAS.row("cublas{T}geru_v2", COMPLEX)(ger)


@CUBLAS.row("cublas{T}gerc_v2", COMPLEX)
def gerc(
    s: Session,
    handle: Handle,
    m: Count,
    n: Count,
    alpha: Address,
    x: Device,
    incx: Count,
    y: Device,
    incy: Count,
    a: Device,
    lda: Count,
) -> None:
    matrix = s.memory.matrix(a, m, n, lda, s.element)
    left, right = s.memory.vector(x, m, incx, s.element), s.memory.vector(y, n, incy, s.element)
    matrix += s.memory.scalar(alpha, s.element) * np.outer(left, right.conj())


def _symmetric_product(
    s: Session,
    hermitian: bool,
    uplo: int,
    n: int,
    alpha: int,
    a: int,
    lda: int,
    x: int,
    incx: int,
    beta: int,
    y: int,
    incy: int,
) -> None:
    matrix = whole(s.memory.matrix(a, n, n, lda, s.element), uplo, hermitian)
    result = s.memory.vector(y, n, incy, s.element, written=True)
    product = matrix @ s.memory.vector(x, n, incx, s.element)
    accumulate(result, product, s.memory.scalar(alpha, s.element), s.memory.scalar(beta, s.element))


@CUBLAS.row("cublas{T}symv_v2", ALL)
def symv(
    s: Session,
    handle: Handle,
    uplo: Int,
    n: Count,
    alpha: Address,
    a: Device,
    lda: Count,
    x: Device,
    incx: Count,
    beta: Address,
    y: Device,
    incy: Count,
) -> None:
    _symmetric_product(s, False, uplo, n, alpha, a, lda, x, incx, beta, y, incy)


@CUBLAS.row("cublas{T}hemv_v2", COMPLEX)
def hemv(
    s: Session,
    handle: Handle,
    uplo: Int,
    n: Count,
    alpha: Address,
    a: Device,
    lda: Count,
    x: Device,
    incx: Count,
    beta: Address,
    y: Device,
    incy: Count,
) -> None:
    _symmetric_product(s, True, uplo, n, alpha, a, lda, x, incx, beta, y, incy)


@CUBLAS.row("cublas{T}sbmv_v2", REAL)
def sbmv(
    s: Session,
    handle: Handle,
    uplo: Int,
    n: Count,
    k: Count,
    alpha: Address,
    a: Device,
    lda: Count,
    x: Device,
    incx: Count,
    beta: Address,
    y: Device,
    incy: Count,
) -> None:
    bands = s.memory.matrix(a, k + 1, n, lda, s.element)
    matrix = np.zeros((n, n), s.element)
    for distance in range(min(k, n - 1) + 1):
        if uplo:  # of the upper triangle the diagonal is the last row
            row = bands[k - distance, distance:]
        else:
            row = bands[distance, : n - distance]
        matrix += np.diag(row, distance) + (np.diag(row, -distance) if distance else 0)
    result = s.memory.vector(y, n, incy, s.element, written=True)
    product = matrix @ s.memory.vector(x, n, incx, s.element)
    accumulate(result, product, s.memory.scalar(alpha, s.element), s.memory.scalar(beta, s.element))


def _update(s: Session, uplo: int, n: int, change: Array, a: int, lda: int, *, hermitian: bool) -> None:
    matrix = s.memory.matrix(a, n, n, lda, s.element)
    changed = matrix + change
    if hermitian:
        np.fill_diagonal(changed, np.real(np.diag(changed)))
    put_triangle(matrix, changed, uplo)


@CUBLAS.row("cublas{T}syr_v2", ALL)
def syr(
    s: Session,
    handle: Handle,
    uplo: Int,
    n: Count,
    alpha: Address,
    x: Device,
    incx: Count,
    a: Device,
    lda: Count,
) -> None:
    vector = s.memory.vector(x, n, incx, s.element)
    change = s.memory.scalar(alpha, s.element) * np.outer(vector, vector)
    _update(s, uplo, n, change, a, lda, hermitian=False)


@CUBLAS.row("cublas{T}her_v2", COMPLEX)
def her(
    s: Session,
    handle: Handle,
    uplo: Int,
    n: Count,
    alpha: Address,
    x: Device,
    incx: Count,
    a: Device,
    lda: Count,
) -> None:
    vector = s.memory.vector(x, n, incx, s.element)
    change = s.memory.scalar(alpha, s.real) * np.outer(vector, vector.conj())
    _update(s, uplo, n, change, a, lda, hermitian=True)


@CUBLAS.row("cublas{T}syr2_v2", ALL)
def syr2(
    s: Session,
    handle: Handle,
    uplo: Int,
    n: Count,
    alpha: Address,
    x: Device,
    incx: Count,
    y: Device,
    incy: Count,
    a: Device,
    lda: Count,
) -> None:
    one = s.memory.scalar(alpha, s.element) * np.outer(
        s.memory.vector(x, n, incx, s.element), s.memory.vector(y, n, incy, s.element)
    )
    _update(s, uplo, n, one + one.T, a, lda, hermitian=False)


@CUBLAS.row("cublas{T}her2_v2", COMPLEX)
def her2(
    s: Session,
    handle: Handle,
    uplo: Int,
    n: Count,
    alpha: Address,
    x: Device,
    incx: Count,
    y: Device,
    incy: Count,
    a: Device,
    lda: Count,
) -> None:
    one = s.memory.scalar(alpha, s.element) * np.outer(
        s.memory.vector(x, n, incx, s.element), s.memory.vector(y, n, incy, s.element).conj()
    )
    _update(s, uplo, n, one + one.conj().T, a, lda, hermitian=True)


@CUBLAS.row("cublas{T}trmv_v2", ALL)
def trmv(
    s: Session,
    handle: Handle,
    uplo: Int,
    trans: Int,
    diag: Int,
    n: Count,
    a: Device,
    lda: Count,
    x: Device,
    incx: Count,
) -> None:
    vector = s.memory.vector(x, n, incx, s.element)
    vector[...] = op(triangle(s.memory.matrix(a, n, n, lda, s.element), uplo, diag), trans) @ vector


@CUBLAS.row("cublas{T}trsv_v2", ALL)
def trsv(
    s: Session,
    handle: Handle,
    uplo: Int,
    trans: Int,
    diag: Int,
    n: Count,
    a: Device,
    lda: Count,
    x: Device,
    incx: Count,
) -> None:
    vector = s.memory.vector(x, n, incx, s.element)
    matrix = op(triangle(s.memory.matrix(a, n, n, lda, s.element), uplo, diag), trans)
    vector[...] = np.linalg.solve(matrix, vector)
