"""Generic functions: products of sparse matrices, conversions, triangular solutions."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ...numba_device.calls import put
from ..cublas.context import op
from ..cublas.mixed import storage
from ..frame import Address, Device, Handle, Int, Session, immediate
from ..lapack import scipy
from .library import CUSPARSE
from .objects import Matrix, Sparse, SparseVector, Vector

_SIZE = ctypes.c_size_t


def _sized(pattern: str, kinds: str) -> None:
    CUSPARSE.sizes(pattern, "", kinds, _SIZE)


_sized("cusparseSpVV_bufferSize", "Handle Int Handle Handle Address Int >Address")
_sized("cusparseSpMV_bufferSize", "Handle Int Address Handle Handle Address Handle Int Int >Address")
_sized("cusparseSpMM_bufferSize", "Handle Int Int Address Handle Handle Address Handle Int Int >Address")
_sized("cusparseSpSV_bufferSize", "Handle Int Address Handle Handle Handle Int Int Handle >Address")
_sized("cusparseSpSM_bufferSize", "Handle Int Int Address Handle Handle Handle Int Int Handle >Address")
_sized("cusparseSparseToDense_bufferSize", "Handle Handle Handle Int >Address")
_sized("cusparseDenseToSparse_bufferSize", "Handle Handle Handle Int >Address")


@CUSPARSE.row("cusparseSpVV")
def spvv(
    s: Session, handle: Handle, how: Int, x: Handle, y: Handle, result: Address, compute: Int, work: Device
) -> None:
    sparse, dense = s.get(x, SparseVector), s.get(y, Vector)
    values = sparse.content(s)
    found = np.dot(values.conj() if how == 2 else values, dense.content(s)[sparse.places(s)])
    s.memory.put(result, found, storage(compute))


def _combine(s: Session, target: Any, product: Any, alpha: Any, beta: Any) -> None:
    target[...] = alpha * product if beta == 0 else alpha * product + beta * target


@CUSPARSE.row("cusparseSpMV")
def spmv(
    s: Session,
    handle: Handle,
    how: Int,
    alpha: Address,
    a: Handle,
    x: Handle,
    beta: Address,
    y: Handle,
    compute: Int,
    algorithm: Int,
    work: Device,
) -> None:
    matrix = op(s.get(a, Sparse).matrix(s), how)
    target = s.get(y, Vector).content(s, written=True)
    kind = storage(compute)
    product = matrix.astype(kind) @ s.get(x, Vector).content(s).astype(kind)
    _combine(s, target, product, s.memory.scalar(alpha, kind), s.memory.scalar(beta, kind))


@CUSPARSE.row("cusparseSpMM")
def spmm(
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
    kind = storage(compute)
    sparse, left, right = s.get(a, Sparse), s.get(b, Matrix), s.get(c, Matrix)
    factors = s.memory.scalar(alpha, kind), s.memory.scalar(beta, kind)
    for number in range(right.count):
        matrix = op(sparse.matrix(s, number if sparse.count > 1 else 0), how).astype(kind)
        dense = op(left.content(s, number if left.count > 1 else 0), how_b).astype(kind)
        _combine(s, right.content(s, number, written=True), matrix @ dense, *factors)


# ---------------------------------------------------------------------------------------- sparse results
class Product:
    """cusparseSpGEMMDescr_t: a product between its steps."""

    found: Any = None


@immediate
@CUSPARSE.row("cusparseSpGEMM_createDescr")
def create_product(s: Session, place: Address) -> None:
    put(place, s.add(Product()))


class Solution:
    """cusparseSpSVDescr_t and cusparseSpSMDescr_t: nothing is kept."""


@immediate
@CUSPARSE.row("cusparse{T}_createDescr", "SpSV SpSM")
def create_solution(s: Session, place: Address) -> None:
    put(place, s.add(Solution()))


@immediate
@CUSPARSE.row("cusparse{T}_destroyDescr", "SpGEMM SpSV SpSM")
def destroy_descriptor(s: Session, descriptor: Handle) -> None:
    s.remove(descriptor)


@CUSPARSE.row("cusparseSpGEMM_workEstimation")
def estimate_product(
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
    product: Handle,
    size: Address,
    work: Device,
) -> None:
    put(size, 1)


@CUSPARSE.row("cusparseSpGEMM_compute")
def compute_product(
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
    product: Handle,
    size: Address,
    work: Device,
) -> None:
    if not work:
        put(size, 1)
        return
    left: Any = op(s.get(a, Sparse).matrix(s), how)
    right: Any = op(s.get(b, Sparse).matrix(s), how_b)
    found = left.tocsr() @ right.tocsr()
    found.sort_indices()
    s.get(product, Product).found = found
    s.get(c, Sparse).nonzero = found.nnz


@CUSPARSE.row("cusparseSpGEMM_copy")
def copy_product(
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
    product: Handle,
) -> None:
    target, kind = s.get(c, Sparse), storage(compute)
    found = s.get(product, Product).found * s.memory.scalar(alpha, kind)
    factor = s.memory.scalar(beta, kind)
    target.store(s, found + factor * target.matrix(s) if factor != 0 else found)


# ---------------------------------------------------------------------------------------- conversions
@CUSPARSE.row("cusparseSparseToDense")
def to_dense(s: Session, handle: Handle, a: Handle, b: Handle, algorithm: Int, work: Device) -> None:
    s.get(b, Matrix).content(s, written=True)[...] = s.get(a, Sparse).matrix(s).toarray()


@CUSPARSE.row("cusparseDenseToSparse_analysis")
def count_nonzero(s: Session, handle: Handle, a: Handle, b: Handle, algorithm: Int, work: Device) -> None:
    s.get(b, Sparse).nonzero = int(np.count_nonzero(s.get(a, Matrix).content(s)))


@CUSPARSE.row("cusparseDenseToSparse_convert")
def to_sparse(s: Session, handle: Handle, a: Handle, b: Handle, algorithm: Int, work: Device) -> None:
    s.get(b, Sparse).store(s, scipy(s, "sparse").csr_matrix(s.get(a, Matrix).content(s)))


@CUSPARSE.row("cusparseGather")
def gather(s: Session, handle: Handle, y: Handle, x: Handle) -> None:
    one = s.get(x, SparseVector)
    one.content(s, written=True)[...] = s.get(y, Vector).content(s)[one.places(s)]


@CUSPARSE.row("cusparseScatter")
def scatter(s: Session, handle: Handle, x: Handle, y: Handle) -> None:
    one = s.get(x, SparseVector)
    s.get(y, Vector).content(s, written=True)[one.places(s)] = one.content(s)


@CUSPARSE.row("cusparseAxpby")
def axpby(s: Session, handle: Handle, alpha: Address, x: Handle, beta: Address, y: Handle) -> None:
    one, other = s.get(x, SparseVector), s.get(y, Vector)
    target, kind = other.content(s, written=True), storage(one.kind)
    target *= s.memory.scalar(beta, kind)
    target[one.places(s)] += s.memory.scalar(alpha, kind) * one.content(s)


# ---------------------------------------------------------------------------------------- triangular
def _triangular(s: Session, a: int, how: int) -> tuple[Any, bool, bool]:
    """op of the triangle of a matrix, whether it is lower, and whether its diagonal is of ones."""
    one = s.get(a, Sparse)
    upper, unit = one.attributes
    part = scipy(s, "sparse").triu(one.matrix(s)) if upper else scipy(s, "sparse").tril(one.matrix(s))
    turned: Any = op(part.tocsr(), how)
    return turned.tocsr(), bool(upper) == (how in (1, 2)), bool(unit)


def _solved(s: Session, matrix: Any, right: Any, *, lower: bool, unit: bool) -> Any:
    """The solution of a triangular system; with zeros on the diagonal, what dividing by them gives."""
    try:
        return scipy(s, "sparse.linalg").spsolve_triangular(matrix, right, lower=lower, unit_diagonal=unit)
    except np.linalg.LinAlgError:
        pass
    found, diagonal = right.copy(), matrix.diagonal()
    strict = matrix - scipy(s, "sparse").diags(diagonal, format="csr")
    order = range(len(diagonal)) if lower else reversed(range(len(diagonal)))
    with np.errstate(divide="ignore", invalid="ignore"):
        for row in order:
            place = slice(strict.indptr[row], strict.indptr[row + 1])
            found[row] -= strict.data[place] @ found[strict.indices[place]]
            found[row] /= diagonal[row]
    return found


@CUSPARSE.row("cusparseSpSV_analysis", kinds="Handle Int Address Handle Handle Handle Int Int Handle Device")
def analyse_vector(s: Session, *arguments: int) -> None:
    """Nothing is to be known beforehand."""


@CUSPARSE.row(
    "cusparseSpSM_analysis",
    kinds="Handle Int Int Address Handle Handle Handle Int Int Handle Device",
)
def analyse_matrix(s: Session, *arguments: int) -> None:
    """Nothing is to be known beforehand."""


@CUSPARSE.row("cusparseSpSV_solve")
def spsv(
    s: Session,
    handle: Handle,
    how: Int,
    alpha: Address,
    a: Handle,
    x: Handle,
    y: Handle,
    compute: Int,
    algorithm: Int,
    solution: Handle,
) -> None:
    matrix, lower, unit = _triangular(s, a, how)
    right = s.memory.scalar(alpha, storage(compute)) * s.get(x, Vector).content(s)
    s.get(y, Vector).content(s, written=True)[...] = _solved(s, matrix, right, lower=lower, unit=unit)


@CUSPARSE.row("cusparseSpSM_solve")
def spsm(
    s: Session,
    handle: Handle,
    how: Int,
    how_b: Int,
    alpha: Address,
    a: Handle,
    b: Handle,
    c: Handle,
    compute: Int,
    algorithm: Int,
    solution: Handle,
) -> None:
    matrix, lower, unit = _triangular(s, a, how)
    right = s.memory.scalar(alpha, storage(compute)) * op(s.get(b, Matrix).content(s), how_b)
    s.get(c, Matrix).content(s, written=True)[...] = _solved(s, matrix, right, lower=lower, unit=unit)
