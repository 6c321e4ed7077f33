"""Products of dense matrices at the places of a sparse one (SDDMM), and steps that prepare products."""

from __future__ import annotations

import ctypes

import numpy as np

from ..cublas.context import op
from ..cublas.mixed import storage
from ..frame import Address, Device, Handle, Int, Session
from ..memory import Array
from .library import CUSPARSE
from .objects import COO, CSC, Matrix, Sparse

_PRODUCT = "Handle Int Int Address Handle Handle Address Handle Int Int"
_VECTOR = "Handle Int Address Handle Handle Address Handle Int Int"
CUSPARSE.sizes("cusparseSDDMM_bufferSize", "", f"{_PRODUCT} >Address", ctypes.c_size_t)


@CUSPARSE.row("cusparse{T}_preprocess", "SDDMM SpMM", kinds=f"{_PRODUCT} Device")
def prepare_product(s: Session, *arguments: int) -> None:
    """Nothing is to be known beforehand."""


@CUSPARSE.row("cusparseSpMV_preprocess", kinds=f"{_VECTOR} Device")
def prepare_vector(s: Session, *arguments: int) -> None:
    """Nothing is to be known beforehand."""


@CUSPARSE.row("cusparseSDDMM")
def sddmm(
    s: Session,
    handle: Handle,
    how: Int,
    how_b: Int,
    alpha: Address,
    a: Handle,
    b: Handle,
    beta: Address,
    c: Handle,
    compute: Int,
    algorithm: Int,
    work: Device,
) -> None:
    kind, target = storage(compute), s.get(c, Sparse)
    left, right = s.get(a, Matrix), s.get(b, Matrix)
    factor, kept = s.memory.scalar(alpha, kind), s.memory.scalar(beta, kind)
    for number in range(target.count):
        one, other = (
            op(dense.content(s, number if dense.count > 1 else 0), turned).astype(kind)
            for dense, turned in ((left, how), (right, how_b))
        )
        rows, columns = _places(s, target, number)
        product = factor * np.einsum("ij,ij->i", one[rows], other.T[columns])
        values = target.arrays(s, number, written=True)[0]
        values[...] = product if kept == 0 else product + kept * values


def _places(s: Session, sparse: Sparse, number: int) -> tuple[Array, Array]:
    """Row and column of each element that a matrix has, in the order of its values."""
    _, first, second = sparse.arrays(s, number)
    if sparse.form == COO:
        return first - sparse.base, second - sparse.base
    long = np.repeat(np.arange(len(first) - 1), np.diff(first.astype("i8")))
    return (second - sparse.base, long) if sparse.form == CSC else (long, second - sparse.base)
