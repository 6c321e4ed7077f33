"""Products and solutions of many small problems: arrays of pointers, or problems at equal distances."""

from __future__ import annotations

from ..frame import Address, Count, Device, Handle, Int, Int64, Session, each
from .context import CUBLAS, not_negative
from .level1 import ALL
from .level2 import gemv
from .level3 import gemm, solve_triangular

_TYPES = "H S D C Z"


@CUBLAS.row("cublas{T}gemmBatched", _TYPES)
def gemm_batched(
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
    count: Count,
) -> None:
    not_negative(count)
    for x, y, z in zip(*(s.memory.pointers(one, count) for one in (a, b, c)), strict=True):
        gemm(s, handle, transa, transb, m, n, k, alpha, x, lda, y, ldb, beta, z, ldc)


@CUBLAS.row("cublas{T}gemmStridedBatched", _TYPES)
def gemm_strided(
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
    stridea: Int64,
    b: Device,
    ldb: Count,
    strideb: Int64,
    beta: Address,
    c: Device,
    ldc: Count,
    stridec: Int64,
    count: Count,
) -> None:
    not_negative(count)
    size = s.element.itemsize
    for x, y, z in each(count, (a, stridea * size), (b, strideb * size), (c, stridec * size)):
        gemm(s, handle, transa, transb, m, n, k, alpha, x, lda, y, ldb, beta, z, ldc)


@CUBLAS.row("cublas{T}gemvBatched", ALL)
def gemv_batched(
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
    count: Count,
) -> None:
    for one, two, three in zip(*(s.memory.pointers(one, count) for one in (a, x, y)), strict=True):
        gemv(s, handle, trans, m, n, alpha, one, lda, two, incx, beta, three, incy)


@CUBLAS.row("cublas{T}gemvStridedBatched", ALL)
def gemv_strided(
    s: Session,
    handle: Handle,
    trans: Int,
    m: Count,
    n: Count,
    alpha: Address,
    a: Device,
    lda: Count,
    stridea: Int64,
    x: Device,
    incx: Count,
    stridex: Int64,
    beta: Address,
    y: Device,
    incy: Count,
    stridey: Int64,
    count: Count,
) -> None:
    size = s.element.itemsize
    for one, two, three in each(count, (a, stridea * size), (x, stridex * size), (y, stridey * size)):
        gemv(s, handle, trans, m, n, alpha, one, lda, two, incx, beta, three, incy)


@CUBLAS.row("cublas{T}trsmBatched", ALL)
def trsm_batched(
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
    count: Count,
) -> None:
    factor = s.memory.scalar(alpha, s.element)
    for x, y in zip(s.memory.pointers(a, count), s.memory.pointers(b, count), strict=True):
        solve_triangular(s, side, uplo, trans, diag, m, n, factor, (x, lda, y, ldb))
