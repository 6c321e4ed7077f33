"""Solutions by iterative refinement (gesv, gels): here computed at once in the precision of the result.

The first letter is the type of matrices and results, the second the lower precision that a GPU factors in.
"""

from __future__ import annotations

import numpy as np

from ...numba_device.calls import put_int
from ..frame import Address, Device, Handle, Int, Session
from ..lapack import factor, solve_factored
from .library import CUSOLVER

_PAIRS = " ".join(
    f"{one}{two}={one}"
    for one, others in (("S", "SHBX"), ("D", "DSHBX"), ("C", "CKEY"), ("Z", "ZCKEY"))
    for two in others
)
CUSOLVER.sizes(
    "cusolverDn{T}gesv_bufferSize",
    _PAIRS,
    "Handle Int Int Device Int Device Device Int Device Int Device >Address",
)
CUSOLVER.sizes(
    "cusolverDn{T}gels_bufferSize",
    _PAIRS,
    "Handle Int Int Int Device Int Device Int Device Int Device >Address",
)


@CUSOLVER.row("cusolverDn{T}gesv", _PAIRS)
def gesv(
    s: Session,
    handle: Handle,
    n: Int,
    nrhs: Int,
    a: Device,
    lda: Int,
    pivots: Device,
    b: Device,
    ldb: Int,
    x: Device,
    ldx: Int,
    work: Device,
    size: Int,
    iterations: Address,
    info: Device,
) -> None:
    matrix = s.memory.matrix(a, n, n, lda, s.element)
    order, status = factor(s, matrix)
    if pivots:
        s.memory.flat(pivots, n, "i4", written=True)[...] = order
    if not status:
        right = s.memory.matrix(b, n, nrhs, ldb, s.element)
        target = s.memory.matrix(x, n, nrhs, ldx, s.element, written=True)
        target[...] = solve_factored(s, matrix, order, right, 0)
    put_int(iterations, 0)
    s.memory.put(info, status, "i4")


@CUSOLVER.row("cusolverDn{T}gels", _PAIRS)
def gels(
    s: Session,
    handle: Handle,
    m: Int,
    n: Int,
    nrhs: Int,
    a: Device,
    lda: Int,
    b: Device,
    ldb: Int,
    x: Device,
    ldx: Int,
    work: Device,
    size: Int,
    iterations: Address,
    info: Device,
) -> None:
    matrix = s.memory.matrix(a, m, n, lda, s.element)
    right = s.memory.matrix(b, m, nrhs, ldb, s.element)
    target = s.memory.matrix(x, n, nrhs, ldx, s.element, written=True)
    target[...] = np.linalg.lstsq(matrix, right, rcond=None)[0]
    put_int(iterations, 0)
    s.memory.put(info, 0, "i4")
