"""Generic functions (cusolverDnX...): element types are arguments, sizes 64 bits wide."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..cublas.mixed import storage
from ..frame import Device, Failed, Handle, Int, Int64, Session, Size
from ..lapack import factor, solve_factored
from ..memory import Array
from .eigenvalues import put_eigenvalues
from .library import CUSOLVER, NOT_SUPPORTED
from .linear_systems import cholesky, solve_cholesky
from .orthogonal import factor_qr
from .singular_values import put_singular


def _two_sizes(name: str, kinds: str) -> None:
    """A function that says how much workspace is needed on device and host, its last two parameters."""

    def sizes(s: Session, *arguments: int) -> None:
        ctypes.c_size_t.from_address(arguments[-2]).value = 1
        ctypes.c_size_t.from_address(arguments[-1]).value = 0

    CUSOLVER.row(f"cusolverDnX{name}_bufferSize", kinds=f"Handle Handle {kinds} Address Address")(sizes)


_two_sizes("potrf", "Int Int64 Int Device Int64 Int")
_two_sizes("getrf", "Int64 Int64 Int Device Int64 Int")
_two_sizes("geqrf", "Int64 Int64 Int Device Int64 Int Device Int")
_two_sizes("gesvd", "Byte Byte Int64 Int64 Int Device Int64 Int Device Int Device Int64 Int Device Int64 Int")
_two_sizes("syevd", "Int Int Int64 Int Device Int64 Int Device Int")
_two_sizes("geev", "Int Int Int64 Int Device Int64 Int Device Int Device Int64 Int Device Int64 Int")


@CUSOLVER.row("cusolverDnXpotrf")
def potrf(
    s: Session,
    handle: Handle,
    parameters: Handle,
    uplo: Int,
    n: Int64,
    kind: Int,
    a: Device,
    lda: Int64,
    compute: Int,
    work: Device,
    size: Size,
    host: Handle,
    host_size: Size,
    info: Device,
) -> None:
    s.memory.put(info, cholesky(s, s.memory.matrix(a, n, n, lda, storage(kind)), uplo), "i4")


@CUSOLVER.row("cusolverDnXpotrs")
def potrs(
    s: Session,
    handle: Handle,
    parameters: Handle,
    uplo: Int,
    n: Int64,
    nrhs: Int64,
    kind: Int,
    a: Device,
    lda: Int64,
    kind_b: Int,
    b: Device,
    ldb: Int64,
    info: Device,
) -> None:
    right = s.memory.matrix(b, n, nrhs, ldb, storage(kind_b))
    solve_cholesky(s, s.memory.matrix(a, n, n, lda, storage(kind)), right, uplo)
    s.memory.put(info, 0, "i4")


@CUSOLVER.row("cusolverDnXgetrf")
def getrf(
    s: Session,
    handle: Handle,
    parameters: Handle,
    m: Int64,
    n: Int64,
    kind: Int,
    a: Device,
    lda: Int64,
    pivots: Device,
    compute: Int,
    work: Device,
    size: Size,
    host: Handle,
    host_size: Size,
    info: Device,
) -> None:
    one = s.of({"f4": "S", "f8": "D", "c8": "C", "c16": "Z"}[storage(kind).str[1:]])
    order, status = factor(one, s.memory.matrix(a, m, n, lda, one.element), pivot=pivots != 0)
    if pivots:
        s.memory.flat(pivots, min(m, n), "i8", written=True)[...] = order
    s.memory.put(info, status, "i4")


@CUSOLVER.row("cusolverDnXgetrs")
def getrs(
    s: Session,
    handle: Handle,
    parameters: Handle,
    trans: Int,
    n: Int64,
    nrhs: Int64,
    kind: Int,
    a: Device,
    lda: Int64,
    pivots: Device,
    kind_b: Int,
    b: Device,
    ldb: Int64,
    info: Device,
) -> None:
    one = s.of({"f4": "S", "f8": "D", "c8": "C", "c16": "Z"}[storage(kind).str[1:]])
    right = s.memory.matrix(b, n, nrhs, ldb, storage(kind_b))
    order = s.memory.flat(pivots, n, "i8").astype("i4") if pivots else np.arange(1, n + 1, dtype="i4")
    right[...] = solve_factored(one, s.memory.matrix(a, n, n, lda, one.element), order, right, trans)
    s.memory.put(info, 0, "i4")


@CUSOLVER.row("cusolverDnXgeqrf")
def geqrf(
    s: Session,
    handle: Handle,
    parameters: Handle,
    m: Int64,
    n: Int64,
    kind: Int,
    a: Device,
    lda: Int64,
    kind_tau: Int,
    tau: Device,
    compute: Int,
    work: Device,
    size: Size,
    host: Handle,
    host_size: Size,
    info: Device,
) -> None:
    factor_qr(s, s.memory.matrix(a, m, n, lda, storage(kind)), tau)
    s.memory.put(info, 0, "i4")


@CUSOLVER.row(
    "cusolverDnXgesvd",
    kinds="Handle Handle Byte Byte Int64 Int64 Int Device Int64 Int Device Int Device Int64 Int Device Int64 "
    "Int Device Size Handle Size Device",
)
def gesvd(
    s: Session,
    handle: Handle,
    parameters: Handle,
    jobu: int,
    jobvt: int,
    m: Int64,
    n: Int64,
    kind: Int,
    a: Device,
    lda: Int64,
    kind_s: Int,
    values: Device,
    kind_u: Int,
    u: Device,
    ldu: Int64,
    kind_vt: Int,
    vt: Device,
    ldvt: Int64,
    compute: Int,
    work: Device,
    size: Size,
    host: Handle,
    host_size: Size,
    info: Device,
) -> None:
    put_singular(s, storage(kind), (jobu, jobvt), (m, n), (a, lda, values, u, ldu, vt, ldvt))
    s.memory.put(info, 0, "i4")


@CUSOLVER.row("cusolverDnXsyevd")
def syevd(
    s: Session,
    handle: Handle,
    parameters: Handle,
    vectors: Int,
    uplo: Int,
    n: Int64,
    kind: Int,
    a: Device,
    lda: Int64,
    kind_w: Int,
    values: Device,
    compute: Int,
    work: Device,
    size: Size,
    host: Handle,
    host_size: Size,
    info: Device,
) -> None:
    matrix = s.memory.matrix(a, n, n, lda, storage(kind))
    s.memory.put(info, put_eigenvalues(s, matrix, uplo, vectors, values), "i4")


def _packed(values: Any, vectors: Any) -> Array:
    """Eigenvectors of a real matrix as LAPACK packs them: of a pair the real part, then the imaginary one."""
    found = np.array(vectors.real)
    column = 0
    while column < len(values):
        if values[column].imag:
            found[:, column + 1] = np.imag(vectors[:, column])
            column += 1
        column += 1
    return found


@CUSOLVER.row("cusolverDnXgeev")
def geev(
    s: Session,
    handle: Handle,
    parameters: Handle,
    left: Int,
    right: Int,
    n: Int64,
    kind: Int,
    a: Device,
    lda: Int64,
    kind_w: Int,
    values: Device,
    kind_vl: Int,
    vl: Device,
    ldvl: Int64,
    kind_vr: Int,
    vr: Device,
    ldvr: Int64,
    compute: Int,
    work: Device,
    size: Size,
    host: Handle,
    host_size: Size,
    info: Device,
) -> None:
    if left:
        raise Failed(NOT_SUPPORTED, "left eigenvectors are not supported")
    matrix = s.memory.matrix(a, n, n, lda, storage(kind))
    found, vectors = np.linalg.eig(matrix.astype(np.result_type(matrix, "f8")))
    if storage(kind_w).kind == "c":
        s.memory.flat(values, n, storage(kind_w), written=True)[...] = found
    else:  # real parts, then imaginary parts
        parts = np.concatenate([np.real(found), np.imag(found)])
        s.memory.flat(values, 2 * n, storage(kind_w), written=True)[...] = parts
    if right:
        target = s.memory.matrix(vr, n, n, ldvr, storage(kind_vr), written=True)
        target[...] = vectors if target.dtype.kind == "c" else _packed(found, vectors)
    s.memory.put(info, 0, "i4")
