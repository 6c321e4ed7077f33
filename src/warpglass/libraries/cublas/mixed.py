"""Functions whose element types are arguments (Ex): products, norms, dot products and updates of vectors.

cudaDataType_t names an element type, cublasComputeType_t in which type is summed; older programs pass a
cudaDataType_t for the latter, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..frame import Address, Count, Device, Failed, Handle, Int, Int64, Session, each
from ..memory import Array
from . import float8
from .context import CUBLAS, NOT_SUPPORTED, not_negative, op
from .level1 import product
from .level3 import turned

BFLOAT, _FLOAT8 = 14, (float8.E4M3, float8.E5M2)
_TYPES = {0: "f4", 1: "f8", 2: "f2", 3: "i1", 4: "c8", 5: "c16", 8: "u1", 10: "i4", 12: "u4", 24: "i8"}
# What alpha and beta are, and in what is summed, by cublasComputeType_t.
_SCALARS = {
    64: "f2",
    65: "f2",
    68: "f4",
    69: "f4",
    74: "f4",
    75: "f4",
    77: "f4",
    70: "f8",
    71: "f8",
    72: "i4",
    73: "i4",
}


def read(s: Session, array: Array, kind: int) -> Array:
    """Elements as NumPy has them: bfloat16 and 8-bit floats become single precision."""
    if kind == BFLOAT:
        return (array.astype("u4") << 16).view("f4")
    return float8.decode(array, kind) if kind in _FLOAT8 else array


def storage(kind: int) -> np.dtype[Any]:
    """How elements of a cudaDataType_t lie in memory; raises Failed for types that NumPy cannot stand for."""
    if kind == BFLOAT:
        return np.dtype("u2")
    if kind in _FLOAT8:
        return np.dtype("u1")
    if kind not in _TYPES:
        raise Failed(NOT_SUPPORTED, f"elements of cudaDataType {kind} are not supported")
    return np.dtype(_TYPES[kind])


def write(target: Array, value: Array, kind: int) -> None:
    """Store values as elements of a cudaDataType_t; small floats are rounded to nearest, ties to even."""
    if kind in _FLOAT8:
        target[...] = float8.encode(value, kind)
        return
    if kind != BFLOAT:
        target[...] = np.rint(value) if target.dtype.kind in "iu" and value.dtype.kind == "f" else value
        return
    bits = np.ascontiguousarray(value, "f4").view("u4")
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    target[...] = np.where(np.isnan(value), bits >> 16 | 0x40, rounded).astype("u2")


def scalars(compute: int, result: int) -> np.dtype[Any]:
    """The type of alpha and beta, in which is summed, too; halves are summed as single precision."""
    kind = np.dtype(_SCALARS.get(compute) or _TYPES.get(compute) or "f4")
    complex_result = storage(result).kind == "c"
    return np.result_type(kind, "c8") if complex_result and kind.kind == "f" else kind


def gemm_any(
    s: Session, shape: tuple[int, ...], factors: tuple[Any, Any], parts: Any, kind: np.dtype[Any]
) -> None:
    """One product; parts are address, element type and leading dimension of A, B and C."""
    transa, transb, m, n, k = shape
    not_negative(m, n, k)
    (a, atype, lda), (b, btype, ldb), (c, ctype, ldc) = parts
    alpha, beta = factors
    wide = np.dtype("f4") if kind == np.dtype("f2") else kind
    target = s.memory.matrix(c, m, n, ldc, storage(ctype), written=True)
    total = np.zeros((m, n), wide)
    if k and alpha != 0:
        left = read(s, s.memory.matrix(a, *turned(m, k, transa), lda, storage(atype)), atype)
        right = read(s, s.memory.matrix(b, *turned(k, n, transb), ldb, storage(btype)), btype)
        total = alpha * (op(left.astype(wide), transa) @ op(right.astype(wide), transb))
    if beta != 0:
        total = total + beta * read(s, target, ctype).astype(wide)
    write(target, total, ctype)


def _factors(s: Session, alpha: int, beta: int, kind: np.dtype[Any]) -> tuple[Any, Any]:
    wide = np.dtype("f4") if kind == np.dtype("f2") else kind
    return wide.type(s.memory.scalar(alpha, kind)), wide.type(s.memory.scalar(beta, kind))


@CUBLAS.row("cublasGemmEx")
def gemm_ex(
    s: Session,
    handle: Handle,
    transa: Int,
    transb: Int,
    m: Count,
    n: Count,
    k: Count,
    alpha: Address,
    a: Device,
    atype: Int,
    lda: Count,
    b: Device,
    btype: Int,
    ldb: Count,
    beta: Address,
    c: Device,
    ctype: Int,
    ldc: Count,
    compute: Int,
    algorithm: Int,
) -> None:
    kind = scalars(compute, ctype)
    parts = (a, atype, lda), (b, btype, ldb), (c, ctype, ldc)
    gemm_any(s, (transa, transb, m, n, k), _factors(s, alpha, beta, kind), parts, kind)


@CUBLAS.row("cublas{T}gemmEx", "S C")
def gemm_of_singles(
    s: Session,
    handle: Handle,
    transa: Int,
    transb: Int,
    m: Count,
    n: Count,
    k: Count,
    alpha: Address,
    a: Device,
    atype: Int,
    lda: Count,
    b: Device,
    btype: Int,
    ldb: Count,
    beta: Address,
    c: Device,
    ctype: Int,
    ldc: Count,
) -> None:
    parts = (a, atype, lda), (b, btype, ldb), (c, ctype, ldc)
    gemm_any(s, (transa, transb, m, n, k), _factors(s, alpha, beta, s.element), parts, s.element)


@CUBLAS.row("cublasGemmBatchedEx")
def gemm_batched_ex(
    s: Session,
    handle: Handle,
    transa: Int,
    transb: Int,
    m: Count,
    n: Count,
    k: Count,
    alpha: Address,
    a: Device,
    atype: Int,
    lda: Count,
    b: Device,
    btype: Int,
    ldb: Count,
    beta: Address,
    c: Device,
    ctype: Int,
    ldc: Count,
    count: Count,
    compute: Int,
    algorithm: Int,
) -> None:
    kind = scalars(compute, ctype)
    factors = _factors(s, alpha, beta, kind)
    for x, y, z in zip(*(s.memory.pointers(one, count) for one in (a, b, c)), strict=True):
        parts = (x, atype, lda), (y, btype, ldb), (z, ctype, ldc)
        gemm_any(s, (transa, transb, m, n, k), factors, parts, kind)


@CUBLAS.row("cublasGemmStridedBatchedEx")
def gemm_strided_ex(
    s: Session,
    handle: Handle,
    transa: Int,
    transb: Int,
    m: Count,
    n: Count,
    k: Count,
    alpha: Address,
    a: Device,
    atype: Int,
    lda: Count,
    stridea: Int64,
    b: Device,
    btype: Int,
    ldb: Count,
    strideb: Int64,
    beta: Address,
    c: Device,
    ctype: Int,
    ldc: Count,
    stridec: Int64,
    count: Count,
    compute: Int,
    algorithm: Int,
) -> None:
    kind = scalars(compute, ctype)
    factors = _factors(s, alpha, beta, kind)
    sizes = [storage(one).itemsize for one in (atype, btype, ctype)]
    steps = zip((a, b, c), (stridea, strideb, stridec), sizes, strict=True)
    for x, y, z in each(count, *((first, step * size) for first, step, size in steps)):
        parts = (x, atype, lda), (y, btype, ldb), (z, ctype, ldc)
        gemm_any(s, (transa, transb, m, n, k), factors, parts, kind)


def _vector(s: Session, place: int, n: int, step: int, kind: int) -> Array:
    return read(s, s.memory.vector(place, n, step, storage(kind)), kind)


@CUBLAS.row("cublasNrm2Ex")
def nrm2_ex(
    s: Session,
    handle: Handle,
    n: Count,
    x: Device,
    xtype: Int,
    incx: Count,
    result: Address,
    rtype: Int,
    execution: Int,
) -> None:
    found = np.linalg.norm(_vector(s, x, n, incx, xtype).astype("c16" if xtype in (4, 5) else "f8"))
    write(s.memory.flat(result, 1, storage(rtype), written=True), np.array([found]), rtype)


def _dot_ex(s: Session, n: int, x: Array, y: Array, result: int, rtype: int) -> None:
    write(s.memory.flat(result, 1, storage(rtype), written=True), np.array([product(x, y)]), rtype)


@CUBLAS.row("cublasDotEx")
def dot_ex(
    s: Session,
    handle: Handle,
    n: Count,
    x: Device,
    xtype: Int,
    incx: Count,
    y: Device,
    ytype: Int,
    incy: Count,
    result: Address,
    rtype: Int,
    execution: Int,
) -> None:
    _dot_ex(s, n, _vector(s, x, n, incx, xtype), _vector(s, y, n, incy, ytype), result, rtype)


@CUBLAS.row("cublasDotcEx")
def dotc_ex(
    s: Session,
    handle: Handle,
    n: Count,
    x: Device,
    xtype: Int,
    incx: Count,
    y: Device,
    ytype: Int,
    incy: Count,
    result: Address,
    rtype: Int,
    execution: Int,
) -> None:
    _dot_ex(s, n, _vector(s, x, n, incx, xtype).conj(), _vector(s, y, n, incy, ytype), result, rtype)


@CUBLAS.row("cublasAxpyEx")
def axpy_ex(
    s: Session,
    handle: Handle,
    n: Count,
    alpha: Address,
    alpha_type: Int,
    x: Device,
    xtype: Int,
    incx: Count,
    y: Device,
    ytype: Int,
    incy: Count,
    execution: Int,
) -> None:
    target = s.memory.vector(y, n, incy, storage(ytype), written=True)
    factor = read(s, s.memory.flat(alpha, 1, storage(alpha_type)), alpha_type)[0]
    write(target, read(s, target, ytype) + factor * _vector(s, x, n, incx, xtype), ytype)


@CUBLAS.row("cublasScalEx")
def scal_ex(
    s: Session,
    handle: Handle,
    n: Count,
    alpha: Address,
    alpha_type: Int,
    x: Device,
    xtype: Int,
    incx: Count,
    execution: Int,
) -> None:
    target = s.memory.vector(x, n, incx, storage(xtype), written=True)
    factor = read(s, s.memory.flat(alpha, 1, storage(alpha_type)), alpha_type)[0]
    write(target, read(s, target, xtype) * factor, xtype)
