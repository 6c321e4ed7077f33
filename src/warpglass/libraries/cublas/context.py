"""Handles and settings: what cuBLAS keeps for a program, and helpers to copy vectors and matrices.

Belongs here: the library itself, and what its other files share (`op`, `triangle`).
"""

from __future__ import annotations

import numpy as np

from ...numba_device.calls import put, put_int
from ...numba_device.device_calls import lasting
from ..frame import (
    Address,
    Context,
    Count,
    Device,
    Failed,
    Handle,
    Int,
    Library,
    Session,
    Size,
    Statuses,
    immediate,
)
from ..memory import Array

NOT_INITIALIZED, INVALID_VALUE, INTERNAL_ERROR, NOT_SUPPORTED = 1, 7, 14, 15
CUBLAS = Library(
    "cuBLAS",
    "cublas",
    ("libcublas.so.13", "libcublas.so.12", "libcublas.so.11"),
    Statuses(NOT_INITIALIZED, INVALID_VALUE, INTERNAL_ERROR, NOT_SUPPORTED),
)
VERSION = 130002
NAMES = {
    0: "CUBLAS_STATUS_SUCCESS",
    1: "CUBLAS_STATUS_NOT_INITIALIZED",
    3: "CUBLAS_STATUS_ALLOC_FAILED",
    7: "CUBLAS_STATUS_INVALID_VALUE",
    8: "CUBLAS_STATUS_ARCH_MISMATCH",
    11: "CUBLAS_STATUS_MAPPING_ERROR",
    13: "CUBLAS_STATUS_EXECUTION_FAILED",
    14: "CUBLAS_STATUS_INTERNAL_ERROR",
    15: "CUBLAS_STATUS_NOT_SUPPORTED",
    16: "CUBLAS_STATUS_LICENSE_ERROR",
}


def op(matrix: Array, how: int) -> Array:
    """cublasOperation_t: as it is, transposed, conjugated and transposed, or conjugated."""
    if how == 0:
        return matrix
    return matrix.T if how == 1 else matrix.conj().T if how == 2 else matrix.conj()


def triangle(matrix: Array, upper: int, unit: int = 0) -> Array:
    """The lower (0) or upper (1) triangle, with ones on the diagonal if `unit`; the rest is zero."""
    part = np.triu(matrix) if upper else np.tril(matrix)
    if unit:
        np.fill_diagonal(part, 1)
    return part


def whole(matrix: Array, upper: int, hermitian: bool) -> Array:
    """The symmetric or Hermitian matrix that a triangle stands for."""
    part = triangle(matrix, upper)
    other = part.conj().T if hermitian else part.T
    result = part + other - np.diag(np.diag(part))
    if hermitian:
        np.fill_diagonal(result, np.real(np.diag(part)))
    return result


def put_triangle(target: Array, value: Array, upper: int) -> None:
    """Write one triangle of a square matrix."""
    rows = np.triu_indices(len(target)) if upper else np.tril_indices(len(target))
    target[rows] = value[rows]


def not_negative(*numbers: int) -> None:
    """Raise Failed for sizes below 0."""
    if min(numbers) < 0:
        raise Failed(INVALID_VALUE, f"a size is {min(numbers)}")


@immediate
@CUBLAS.row("cublasCreate_v2")
def create(s: Session, place: Address) -> None:
    put(place, s.add(Context()))


@immediate
@CUBLAS.row("cublasDestroy_v2")
def destroy(s: Session, handle: Handle) -> None:
    s.get(handle, Context)
    s.remove(handle)


@immediate
@CUBLAS.row("cublasGetVersion_v2")
def version(s: Session, handle: Handle, place: Address) -> None:
    put_int(place, VERSION)


@immediate
@CUBLAS.row("cublasGetProperty")
def get_property(s: Session, kind: Int, place: Address) -> None:
    put_int(place, (VERSION // 10000, VERSION // 100 % 100, VERSION % 100)[kind])


@immediate
@CUBLAS.row("cublasGetCudartVersion")
def runtime_version(s: Session) -> Size:
    return 13000


@immediate
@CUBLAS.row("cublasGetStatusName", also="cublasGetStatusString")
def status_name(s: Session, status: Int) -> Address:
    return lasting(NAMES.get(status, "<unknown>"))


@immediate
@CUBLAS.row("cublasSetStream_v2")
def set_stream(s: Session, handle: Handle, stream: Handle) -> None:
    s.get(handle, Context).stream = stream


@immediate
@CUBLAS.row("cublasGetStream_v2")
def get_stream(s: Session, handle: Handle, place: Address) -> None:
    put(place, s.get(handle, Context).stream)


@immediate
@CUBLAS.row("cublasSetPointerMode_v2")
def set_pointer_mode(s: Session, handle: Handle, mode: Int) -> None:
    s.get(handle, Context).device_pointers = bool(mode)


@immediate
@CUBLAS.row("cublasGetPointerMode_v2")
def get_pointer_mode(s: Session, handle: Handle, place: Address) -> None:
    put_int(place, s.get(handle, Context).device_pointers)


@immediate
@CUBLAS.row("cublasSet{T}", "MathMode AtomicsMode SmCountTarget EmulationStrategy")
def set_option(s: Session, handle: Handle, mode: Int) -> None:
    s.get(handle, Context).options[s.letter] = mode


@immediate
@CUBLAS.row("cublasGet{T}", "MathMode AtomicsMode SmCountTarget EmulationStrategy")
def get_option(s: Session, handle: Handle, place: Address) -> None:
    put_int(place, s.get(handle, Context).options.get(s.letter, 0))


@immediate
@CUBLAS.row("cublasSetWorkspace_v2")
def set_workspace(s: Session, handle: Handle, place: Device, size: Size) -> None:
    s.get(handle, Context)


@immediate
@CUBLAS.row("cublasLoggerConfigure")
def logger(s: Session, on: Int, out: Int, err: Int, file: Address) -> None:
    """Nothing is logged."""


@CUBLAS.row("cublasSetVector", also="cublasGetVector")
def copy_vector(s: Session, n: Count, size: Count, x: Address, incx: Count, y: Address, incy: Count) -> None:
    kind = f"V{size}"
    s.memory.vector(y, n, incy, kind, written=True)[...] = s.memory.vector(x, n, incx, kind)


@CUBLAS.row("cublasSetVectorAsync", also="cublasGetVectorAsync")
def copy_vector_async(
    s: Session, n: Count, size: Count, x: Address, incx: Count, y: Address, incy: Count, stream: Handle
) -> None:
    copy_vector(s, n, size, x, incx, y, incy)


@CUBLAS.row("cublasSetMatrix", also="cublasGetMatrix")
def copy_matrix(
    s: Session, rows: Count, cols: Count, size: Count, a: Address, lda: Count, b: Address, ldb: Count
) -> None:
    kind = f"V{size}"
    s.memory.matrix(b, rows, cols, ldb, kind, written=True)[...] = s.memory.matrix(a, rows, cols, lda, kind)


@CUBLAS.row("cublasSetMatrixAsync", also="cublasGetMatrixAsync")
def copy_matrix_async(
    s: Session,
    rows: Count,
    cols: Count,
    size: Count,
    a: Address,
    lda: Count,
    b: Address,
    ldb: Count,
    stream: Handle,
) -> None:
    copy_matrix(s, rows, cols, size, a, lda, b, ldb)
