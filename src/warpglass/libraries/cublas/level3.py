"""Matrices and matrices (level 3): products, updates of rank k, triangular products and solutions."""

from __future__ import annotations

import warnings

import numpy as np

from ..frame import Address, Count, Device, Handle, Int, Session
from ..memory import Array
from .context import CUBLAS, not_negative, op, put_triangle, triangle, whole
from .level1 import ALL, COMPLEX
from .level2 import accumulate

Shape = tuple[int, int]


def turned(rows: int, columns: int, how: int) -> Shape:
    """The shape of a matrix in memory whose op(...) has these extents."""
    return (columns, rows) if how in (1, 2) else (rows, columns)


def product(left: Array, right: Array, wide: np.dtype | None = None) -> Array:
    """A product; halves are multiplied and summed as single precision, 8-bit integers as 32-bit ones."""
    wide = wide or np.result_type(left, right)
    wide = np.dtype("f4") if wide == np.dtype("f2") else wide
    return left.astype(wide, copy=False) @ right.astype(wide, copy=False)


@CUBLAS.row("cublas{T}gemm_v2", ALL)
def gemm(
    s: Session,
    handle: Handle,
    transa: Int,
    transb: Int,
    m: Count,
    n: Count,
    k: Count,
    alpha: Address,
    a: Device,
    lda: Count,
    b: Device,
    ldb: Count,
    beta: Address,
    c: Device,
    ldc: Count,
) -> None:
    not_negative(m, n, k)
    t, factor = s.element, s.memory.scalar(alpha, s.element)
    result = s.memory.matrix(c, m, n, ldc, t, written=True)
    if k == 0 or factor == 0:
        accumulate(result, np.zeros((m, n), t), t.type(0), s.memory.scalar(beta, t))
        return
    left = op(s.memory.matrix(a, *turned(m, k, transa), lda, t), transa)
    right = op(s.memory.matrix(b, *turned(k, n, transb), ldb, t), transb)
    accumulate(result, product(left, right), factor, s.memory.scalar(beta, t))


CUBLAS.row("cublas{T}gemm", "H")(gemm)
CUBLAS.row("cublas{T}gemm3m", COMPLEX)(gemm)


def _symmetric_product(
    s: Session, hermitian: bool, right_side: int, uplo: int, m: int, n: int, places: tuple[int, ...]
) -> None:
    alpha, a, lda, b, ldb, beta, c, ldc = places
    t, k = s.element, n if right_side else m
    matrix = whole(s.memory.matrix(a, k, k, lda, t), uplo, hermitian)
    other = s.memory.matrix(b, m, n, ldb, t)
    result = s.memory.matrix(c, m, n, ldc, t, written=True)
    found = other @ matrix if right_side else matrix @ other
    accumulate(result, found, s.memory.scalar(alpha, t), s.memory.scalar(beta, t))


@CUBLAS.row("cublas{T}symm_v2", ALL)
def symm(
    s: Session,
    handle: Handle,
    side: Int,
    uplo: Int,
    m: Count,
    n: Count,
    alpha: Address,
    a: Device,
    lda: Count,
    b: Device,
    ldb: Count,
    beta: Address,
    c: Device,
    ldc: Count,
) -> None:
    _symmetric_product(s, False, side, uplo, m, n, (alpha, a, lda, b, ldb, beta, c, ldc))


@CUBLAS.row("cublas{T}hemm_v2", COMPLEX)
def hemm(
    s: Session,
    handle: Handle,
    side: Int,
    uplo: Int,
    m: Count,
    n: Count,
    alpha: Address,
    a: Device,
    lda: Count,
    b: Device,
    ldb: Count,
    beta: Address,
    c: Device,
    ldc: Count,
) -> None:
    _symmetric_product(s, True, side, uplo, m, n, (alpha, a, lda, b, ldb, beta, c, ldc))


def _put_update(
    s: Session, uplo: int, target: Array, change: Array, beta: complex, *, hermitian: bool
) -> None:
    """change + beta target in one triangle; the diagonal of a Hermitian matrix is real."""
    value = change if beta == 0 else change + beta * target
    if hermitian:
        np.fill_diagonal(value, np.diag(value).real)
    put_triangle(target, value.astype(s.element, copy=False), uplo)


@CUBLAS.row("cublas{T}syrk_v2", ALL)
def syrk(
    s: Session,
    handle: Handle,
    uplo: Int,
    trans: Int,
    n: Count,
    k: Count,
    alpha: Address,
    a: Device,
    lda: Count,
    beta: Address,
    c: Device,
    ldc: Count,
) -> None:
    t = s.element
    left = op(s.memory.matrix(a, *turned(n, k, trans), lda, t), 1 if trans else 0)
    change = s.memory.scalar(alpha, t) * (left @ left.T)
    target = s.memory.matrix(c, n, n, ldc, t, written=True)
    _put_update(s, uplo, target, change, s.memory.scalar(beta, t), hermitian=False)


@CUBLAS.row("cublas{T}herk_v2", COMPLEX)
def herk(
    s: Session,
    handle: Handle,
    uplo: Int,
    trans: Int,
    n: Count,
    k: Count,
    alpha: Address,
    a: Device,
    lda: Count,
    beta: Address,
    c: Device,
    ldc: Count,
) -> None:
    t = s.element
    left = op(s.memory.matrix(a, *turned(n, k, trans), lda, t), 2 if trans else 0)
    change = s.memory.scalar(alpha, s.real) * (left @ left.conj().T)
    target = s.memory.matrix(c, n, n, ldc, t, written=True)
    _put_update(s, uplo, target, change, s.memory.scalar(beta, s.real), hermitian=True)


@CUBLAS.row("cublas{T}syr2k_v2", ALL)
def syr2k(
    s: Session,
    handle: Handle,
    uplo: Int,
    trans: Int,
    n: Count,
    k: Count,
    alpha: Address,
    a: Device,
    lda: Count,
    b: Device,
    ldb: Count,
    beta: Address,
    c: Device,
    ldc: Count,
) -> None:
    t, how = s.element, 1 if trans else 0
    left = op(s.memory.matrix(a, *turned(n, k, trans), lda, t), how)
    right = op(s.memory.matrix(b, *turned(n, k, trans), ldb, t), how)
    change = s.memory.scalar(alpha, t) * (left @ right.T + right @ left.T)
    target = s.memory.matrix(c, n, n, ldc, t, written=True)
    _put_update(s, uplo, target, change, s.memory.scalar(beta, t), hermitian=False)


@CUBLAS.row("cublas{T}her2k_v2", COMPLEX)
def her2k(
    s: Session,
    handle: Handle,
    uplo: Int,
    trans: Int,
    n: Count,
    k: Count,
    alpha: Address,
    a: Device,
    lda: Count,
    b: Device,
    ldb: Count,
    beta: Address,
    c: Device,
    ldc: Count,
) -> None:
    t, how, factor = s.element, 2 if trans else 0, s.memory.scalar(alpha, s.element)
    left = op(s.memory.matrix(a, *turned(n, k, trans), lda, t), how)
    right = op(s.memory.matrix(b, *turned(n, k, trans), ldb, t), how)
    half = factor * (left @ right.conj().T)
    target = s.memory.matrix(c, n, n, ldc, t, written=True)
    _put_update(s, uplo, target, half + half.conj().T, s.memory.scalar(beta, s.real), hermitian=True)


@CUBLAS.row("cublas{T}trmm_v2", ALL)
def trmm(
    s: Session,
    handle: Handle,
    side: Int,
    uplo: Int,
    trans: Int,
    diag: Int,
    m: Count,
    n: Count,
    alpha: Address,
    a: Device,
    lda: Count,
    b: Device,
    ldb: Count,
    c: Device,
    ldc: Count,
) -> None:
    t, k = s.element, n if side else m
    matrix = op(triangle(s.memory.matrix(a, k, k, lda, t), uplo, diag), trans)
    other = s.memory.matrix(b, m, n, ldb, t)
    found = other @ matrix if side else matrix @ other
    s.memory.matrix(c, m, n, ldc, t, written=True)[...] = s.memory.scalar(alpha, t) * found


def solve(matrix: Array, right: Array) -> Array:
    """The solution of a triangular system; infinities where the diagonal has a zero, as substitution has."""
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return _substitute(matrix, right)


def _substitute(matrix: Array, right: Array) -> Array:
    upper = bool(np.triu(matrix, 1).any())
    rows = range(len(matrix))
    found = right.astype(matrix.dtype)
    for row in reversed(rows) if upper else rows:
        others = slice(row + 1, None) if upper else slice(0, row)
        found[row] = (found[row] - matrix[row, others] @ found[others]) / matrix[row, row]
    return found


def solve_triangular(
    s: Session,
    side: int,
    uplo: int,
    trans: int,
    diag: int,
    m: int,
    n: int,
    alpha: complex,
    places: tuple[int, ...],
) -> None:
    """op(A) X = alpha B, or X op(A) = alpha B; X takes the place of B."""
    a, lda, b, ldb = places
    k = n if side else m
    matrix = op(triangle(s.memory.matrix(a, k, k, lda, s.element), uplo, diag), trans)
    target = s.memory.matrix(b, m, n, ldb, s.element)
    if not m or not n:
        return
    if alpha == 0:
        target[...] = 0
        return
    right = alpha * target
    target[...] = solve(matrix.T, right.T).T if side else solve(matrix, right)


@CUBLAS.row("cublas{T}trsm_v2", ALL)
def trsm(
    s: Session,
    handle: Handle,
    side: Int,
    uplo: Int,
    trans: Int,
    diag: Int,
    m: Count,
    n: Count,
    alpha: Address,
    a: Device,
    lda: Count,
    b: Device,
    ldb: Count,
) -> None:
    factor = s.memory.scalar(alpha, s.element)
    solve_triangular(s, side, uplo, trans, diag, m, n, factor, (a, lda, b, ldb))
