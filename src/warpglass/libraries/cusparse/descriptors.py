"""Descriptors of the generic functions: made, asked, changed and destroyed."""

from __future__ import annotations

import ctypes

from ...numba_device.calls import put, put_int
from ..frame import Address, Device, Failed, Handle, Int, Int64, Session, Size, immediate
from .library import CUSPARSE, INVALID_VALUE
from .objects import COO, CSC, CSR, Matrix, Sparse, SparseVector, Vector


def _compressed(
    s: Session,
    place: Address,
    rows: Int64,
    columns: Int64,
    nonzero: Int64,
    offsets: Device,
    indices: Device,
    values: Device,
    offset_type: Int,
    index_type: Int,
    base: Int,
    kind: Int,
) -> None:
    form = {"Csr": CSR, "Csc": CSC}[s.letter]
    given = (form, rows, columns, nonzero, offsets, indices, values, offset_type, index_type, base, kind)
    put(place, s.add(Sparse(*given)))


for _name in ("cusparseCreate{T}", "cusparseCreateConst{T}"):
    CUSPARSE.row(_name, "Csr Csc")(immediate(_compressed))


@immediate
@CUSPARSE.row("cusparseCreateCoo", also="cusparseCreateConstCoo")
def create_coo(
    s: Session,
    place: Address,
    rows: Int64,
    columns: Int64,
    nonzero: Int64,
    row_indices: Device,
    column_indices: Device,
    values: Device,
    index_type: Int,
    base: Int,
    kind: Int,
) -> None:
    given = (
        COO,
        rows,
        columns,
        nonzero,
        row_indices,
        column_indices,
        values,
        index_type,
        index_type,
        base,
        kind,
    )
    put(place, s.add(Sparse(*given)))


@immediate
@CUSPARSE.row("cusparseCreateDnVec", also="cusparseCreateConstDnVec")
def create_vector(s: Session, place: Address, size: Int64, values: Device, kind: Int) -> None:
    put(place, s.add(Vector(size, values, kind)))


@immediate
@CUSPARSE.row("cusparseCreateDnMat", also="cusparseCreateConstDnMat")
def create_matrix(
    s: Session,
    place: Address,
    rows: Int64,
    columns: Int64,
    leading: Int64,
    values: Device,
    kind: Int,
    order: Int,
) -> None:
    put(place, s.add(Matrix(rows, columns, leading, values, kind, order)))


@immediate
@CUSPARSE.row("cusparseCreateSpVec", also="cusparseCreateConstSpVec")
def create_sparse_vector(
    s: Session,
    place: Address,
    size: Int64,
    nonzero: Int64,
    indices: Device,
    values: Device,
    index_type: Int,
    base: Int,
    kind: Int,
) -> None:
    put(place, s.add(SparseVector(size, nonzero, indices, values, index_type, base, kind)))


@immediate
@CUSPARSE.row("cusparseDestroy{T}", "SpMat SpVec DnMat DnVec")
def destroy(s: Session, descriptor: Handle) -> None:
    s.remove(descriptor)


# ---------------------------------------------------------------------------------------- asking
_LONG, _SHORT = ctypes.c_int64, ctypes.c_int32


def _compressed_get(
    s: Session,
    descriptor: Handle,
    rows: Address,
    columns: Address,
    nonzero: Address,
    offsets: Address,
    indices: Address,
    values: Address,
    offset_type: Address,
    index_type: Address,
    base: Address,
    kind: Address,
) -> None:
    one = s.get(descriptor, Sparse)
    for place, value in ((rows, one.rows), (columns, one.columns), (nonzero, one.nonzero)):
        put(place, value, _LONG)
    for place, value in ((offsets, one.first), (indices, one.second), (values, one.values)):
        put(place, value)
    for place, value in (
        (offset_type, one.first_type),
        (index_type, one.second_type),
        (base, one.base),
        (kind, one.kind),
    ):
        put_int(place, value)


CUSPARSE.row("cusparse{T}Get", "Csr Csc", also="cusparseConst{T}Get")(immediate(_compressed_get))


@immediate
@CUSPARSE.row("cusparseCooGet", also="cusparseConstCooGet")
def coo_get(
    s: Session,
    descriptor: Handle,
    rows: Address,
    columns: Address,
    nonzero: Address,
    row_indices: Address,
    column_indices: Address,
    values: Address,
    index_type: Address,
    base: Address,
    kind: Address,
) -> None:
    one = s.get(descriptor, Sparse)
    _compressed_get(
        s, descriptor, rows, columns, nonzero, row_indices, column_indices, values, index_type, 0, base, kind
    )
    put_int(index_type, one.first_type)


@immediate
@CUSPARSE.row("cusparse{T}SetPointers", "Csr Csc Coo")
def set_pointers(s: Session, descriptor: Handle, first: Device, second: Device, values: Device) -> None:
    one = s.get(descriptor, Sparse)
    one.first, one.second, one.values = first, second, values


@immediate
@CUSPARSE.row("cusparseSpMatGetSize")
def sparse_size(s: Session, descriptor: Handle, rows: Address, columns: Address, nonzero: Address) -> None:
    one = s.get(descriptor, Sparse)
    for place, value in ((rows, one.rows), (columns, one.columns), (nonzero, one.nonzero)):
        put(place, value, _LONG)


@immediate
@CUSPARSE.row("cusparseSpMatGetFormat")
def sparse_format(s: Session, descriptor: Handle, place: Address) -> None:
    put_int(place, s.get(descriptor, Sparse).form)


@immediate
@CUSPARSE.row("cusparseSpMatGetIndexBase")
def sparse_base(s: Session, descriptor: Handle, place: Address) -> None:
    put_int(place, s.get(descriptor, Sparse).base)


@immediate
@CUSPARSE.row("cusparseSpMatGetStridedBatch")
def sparse_batch(s: Session, descriptor: Handle, place: Address) -> None:
    put_int(place, s.get(descriptor, Sparse).count)


@immediate
@CUSPARSE.row("cusparseCsrSetStridedBatch")
def set_rows_batch(s: Session, descriptor: Handle, count: Int, offsets: Int64, others: Int64) -> None:
    one = s.get(descriptor, Sparse)
    one.count, one.steps = count, (offsets, others)


@immediate
@CUSPARSE.row("cusparseCooSetStridedBatch")
def set_coordinates_batch(s: Session, descriptor: Handle, count: Int, step: Int64) -> None:
    one = s.get(descriptor, Sparse)
    one.count, one.steps = count, (step, step)


@immediate
@CUSPARSE.row("cusparseSpMatSetAttribute")
def set_attribute(s: Session, descriptor: Handle, attribute: Int, value: Address, size: Size) -> None:
    one = s.get(descriptor, Sparse)
    given = ctypes.c_int32.from_address(value).value
    if attribute not in (0, 1):
        raise Failed(INVALID_VALUE, f"there is no attribute {attribute} of a sparse matrix")
    one.attributes = (given, one.attributes[1]) if attribute == 0 else (one.attributes[0], given)


def _valued(s: Session, descriptor: int) -> Sparse | SparseVector | Vector | Matrix:
    kinds = {"SpMat": Sparse, "SpVec": SparseVector, "DnVec": Vector, "DnMat": Matrix}
    return s.get(descriptor, kinds[s.letter])


@immediate
@CUSPARSE.row("cusparse{T}GetValues", "SpMat SpVec DnVec DnMat", also="cusparseConst{T}GetValues")
def get_values(s: Session, descriptor: Handle, place: Address) -> None:
    put(place, _valued(s, descriptor).values)


@immediate
@CUSPARSE.row("cusparse{T}SetValues", "SpMat SpVec DnVec DnMat")
def set_values(s: Session, descriptor: Handle, values: Device) -> None:
    _valued(s, descriptor).values = values


@immediate
@CUSPARSE.row("cusparseSpVecGetIndexBase")
def vector_base(s: Session, descriptor: Handle, place: Address) -> None:
    put_int(place, s.get(descriptor, SparseVector).base)


@immediate
@CUSPARSE.row("cusparseSpVecGet", also="cusparseConstSpVecGet")
def sparse_vector_get(
    s: Session,
    descriptor: Handle,
    size: Address,
    nonzero: Address,
    indices: Address,
    values: Address,
    index_type: Address,
    base: Address,
    kind: Address,
) -> None:
    one = s.get(descriptor, SparseVector)
    for place, value in (
        (size, one.size),
        (nonzero, one.nonzero),
        (indices, one.indices),
        (values, one.values),
    ):
        put(place, value)
    for place, value in ((index_type, one.index_type), (base, one.base), (kind, one.kind)):
        put_int(place, value)


@immediate
@CUSPARSE.row("cusparseDnVecGet", also="cusparseConstDnVecGet")
def vector_get(s: Session, descriptor: Handle, size: Address, values: Address, kind: Address) -> None:
    one = s.get(descriptor, Vector)
    put(size, one.size)
    put(values, one.values)
    put_int(kind, one.kind)


@immediate
@CUSPARSE.row("cusparseDnMatGet", also="cusparseConstDnMatGet")
def matrix_get(
    s: Session,
    descriptor: Handle,
    rows: Address,
    columns: Address,
    leading: Address,
    values: Address,
    kind: Address,
    order: Address,
) -> None:
    one = s.get(descriptor, Matrix)
    for place, value in (
        (rows, one.rows),
        (columns, one.columns),
        (leading, one.leading),
        (values, one.values),
    ):
        put(place, value)
    put_int(kind, one.kind)
    put_int(order, one.order)


@immediate
@CUSPARSE.row("cusparseDnMatSetStridedBatch")
def set_batch(s: Session, descriptor: Handle, count: Int, stride: Int64) -> None:
    one = s.get(descriptor, Matrix)
    one.count, one.stride = count, stride


@immediate
@CUSPARSE.row("cusparseDnMatGetStridedBatch")
def get_batch(s: Session, descriptor: Handle, count: Address, stride: Address) -> None:
    one = s.get(descriptor, Matrix)
    put_int(count, one.count)
    put(stride, one.stride)
