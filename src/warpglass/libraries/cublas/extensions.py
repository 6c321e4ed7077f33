"""What cuBLAS has beyond BLAS: sums and transposes, diagonal products, packed triangles."""

from __future__ import annotations

import numpy as np

from ..frame import Address, Count, Device, Handle, Int, Session
from ..memory import Array
from .context import CUBLAS, not_negative, op
from .level1 import ALL
from .level3 import turned


@CUBLAS.row("cublas{T}geam", ALL)
def geam(
    s: Session,
    handle: Handle,
    transa: Int,
    transb: Int,
    m: Count,
    n: Count,
    alpha: Address,
    a: Device,
    lda: Count,
    beta: Address,
    b: Device,
    ldb: Count,
    c: Device,
    ldc: Count,
) -> None:
    not_negative(m, n)
    t = s.element
    total = np.zeros((m, n), t)
    for factor, place, leading, how in ((alpha, a, lda, transa), (beta, b, ldb, transb)):
        weight = s.memory.scalar(factor, t)
        if weight != 0:
            total += weight * op(s.memory.matrix(place, *turned(m, n, how), leading, t), how)
    s.memory.matrix(c, m, n, ldc, t, written=True)[...] = total


@CUBLAS.row("cublas{T}dgmm", ALL)
def dgmm(
    s: Session,
    handle: Handle,
    side: Int,
    m: Count,
    n: Count,
    a: Device,
    lda: Count,
    x: Device,
    incx: Count,
    c: Device,
    ldc: Count,
) -> None:
    matrix = s.memory.matrix(a, m, n, lda, s.element)
    vector = s.memory.vector(x, n if side else m, incx, s.element)
    found = matrix * vector if side else vector[:, None] * matrix
    s.memory.matrix(c, m, n, ldc, s.element, written=True)[...] = found


def _packed(n: int, upper: int) -> tuple[Array, Array]:
    """Rows and columns of a triangle in the order in which it is packed: column by column."""
    columns, rows = np.tril_indices(n) if upper else np.triu_indices(n)
    return rows, columns


@CUBLAS.row("cublas{T}tpttr", ALL)
def tpttr(s: Session, handle: Handle, uplo: Int, n: Count, packed: Device, a: Device, lda: Count) -> None:
    matrix = s.memory.matrix(a, n, n, lda, s.element, written=True)
    matrix[_packed(n, uplo)] = s.memory.flat(packed, n * (n + 1) // 2, s.element)


@CUBLAS.row("cublas{T}trttp", ALL)
def trttp(s: Session, handle: Handle, uplo: Int, n: Count, a: Device, lda: Count, packed: Device) -> None:
    matrix = s.memory.matrix(a, n, n, lda, s.element)
    s.memory.flat(packed, n * (n + 1) // 2, s.element, written=True)[...] = matrix[_packed(n, uplo)]
