"""QR: its factorisation (geqrf), the matrix Q (orgqr, ungqr), and products with it (ormqr, unmqr)."""

from __future__ import annotations

import numpy as np

from ..frame import Device, Handle, Int, Session
from ..lapack import lapack
from ..memory import Array
from .library import ALL, COMPLEX, CUSOLVER, REAL

_GENERATED = "Handle Int Int Int Device Int Device >Address"
_MULTIPLIED = "Handle Int Int Int Int Int Device Int Device Device Int >Address"
CUSOLVER.sizes("cusolverDn{T}geqrf_bufferSize", ALL, "Handle Int Int Device Int >Address")
CUSOLVER.sizes("cusolverDn{T}orgqr_bufferSize", REAL, _GENERATED)
CUSOLVER.sizes("cusolverDn{T}ungqr_bufferSize", COMPLEX, _GENERATED)
CUSOLVER.sizes("cusolverDn{T}ormqr_bufferSize", REAL, _MULTIPLIED)
CUSOLVER.sizes("cusolverDn{T}unmqr_bufferSize", COMPLEX, _MULTIPLIED)


def factor_qr(s: Session, matrix: Array, tau: int) -> None:
    """Factor in place; the factors of the reflections go to an address."""
    if not matrix.size:
        return
    found, factors, _, _ = lapack(s, "geqrf", matrix.dtype)(matrix)
    matrix[...] = found
    s.memory.flat(tau, min(matrix.shape), matrix.dtype, written=True)[...] = factors


def _letter(s: Session) -> str:
    return "un" if s.complex else "or"


@CUSOLVER.row("cusolverDn{T}geqrf", ALL)
def geqrf(
    s: Session,
    handle: Handle,
    m: Int,
    n: Int,
    a: Device,
    lda: Int,
    tau: Device,
    work: Device,
    size: Int,
    info: Device,
) -> None:
    factor_qr(s, s.memory.matrix(a, m, n, lda, s.element), tau)
    s.memory.put(info, 0, "i4")


@CUSOLVER.row("cusolverDn{T}orgqr", REAL)
def orgqr(
    s: Session,
    handle: Handle,
    m: Int,
    n: Int,
    k: Int,
    a: Device,
    lda: Int,
    tau: Device,
    work: Device,
    size: Int,
    info: Device,
) -> None:
    matrix = s.memory.matrix(a, m, n, lda, s.element)
    factors = s.memory.flat(tau, k, s.element)
    if matrix.size and k:
        matrix[...] = lapack(s, f"{_letter(s)}gqr")(matrix, factors)[0]
    else:
        matrix[...] = np.eye(m, n)
    s.memory.put(info, 0, "i4")


CUSOLVER.row("cusolverDn{T}ungqr", COMPLEX)(orgqr)


@CUSOLVER.row("cusolverDn{T}ormqr", REAL)
def ormqr(
    s: Session,
    handle: Handle,
    side: Int,
    trans: Int,
    m: Int,
    n: Int,
    k: Int,
    a: Device,
    lda: Int,
    tau: Device,
    c: Device,
    ldc: Int,
    work: Device,
    size: Int,
    info: Device,
) -> None:
    reflectors = s.memory.matrix(a, n if side else m, k, lda, s.element)
    target = s.memory.matrix(c, m, n, ldc, s.element)
    if target.size and k:
        how = ("C" if s.complex else "T") if trans else "N"
        room = 64 * max(m, n)
        factors = s.memory.flat(tau, k, s.element)
        multiply = lapack(s, f"{_letter(s)}mqr")
        target[...] = multiply("R" if side else "L", how, reflectors, factors, target, room)[0]
    s.memory.put(info, 0, "i4")


CUSOLVER.row("cusolverDn{T}unmqr", COMPLEX)(ormqr)
