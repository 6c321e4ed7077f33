"""Handles and descriptors: of products, of matrices, of preferences.

A descriptor is a structure that lies where the program keeps it, of a call of Create or of its own: it may
be copied, and needs no end. Attributes are its fields, by their numbers in cublasLt.h.
"""

from __future__ import annotations

import ctypes
from typing import Any, TypeVar

from ...numba_device.calls import put
from ...numba_device.device_calls import lasting
from ..cublas.context import NAMES, VERSION
from ..frame import (
    Address,
    Context,
    Failed,
    Handle,
    Int,
    Int64,
    Library,
    Session,
    Size,
    Statuses,
    immediate,
)

INVALID_VALUE, NOT_SUPPORTED = 7, 15
CUBLASLT = Library(
    "cuBLASLt", "cublasLt", ("libcublasLt.so.13", "libcublasLt.so.12"), Statuses(1, 7, 14, NOT_SUPPORTED)
)
_int, _uint, _long, _size = ctypes.c_int32, ctypes.c_uint32, ctypes.c_int64, ctypes.c_uint64
Descriptor = TypeVar("Descriptor", bound="_Descriptor")


class _Descriptor(ctypes.Structure):
    """A structure whose fields are attributes; `numbers` has the attribute of each."""

    numbers: tuple[int, ...] = ()

    @classmethod
    def at(cls: type[Descriptor], address: int) -> Descriptor:
        """The one at an address; raises Failed for a null pointer."""
        if not address:
            raise Failed(INVALID_VALUE, f"a null pointer is given for a {cls.__name__.lower()}")
        return cls.from_address(address)

    def field(self, attribute: int) -> tuple[int, int]:
        """Address and size of an attribute; raises Failed for one that there is not."""
        if attribute not in self.numbers:
            raise Failed(NOT_SUPPORTED, f"a {type(self).__name__.lower()} has no attribute {attribute} here")
        found: Any = getattr(type(self), self._fields_[self.numbers.index(attribute)][0])
        return ctypes.addressof(self) + found.offset, found.size


class Product(_Descriptor):
    """cublasLtMatmulDesc_t."""

    _fields_ = (
        ("compute", _int),
        ("scale", _int),
        ("pointer_mode", _int),
        ("transa", _int),
        ("transb", _int),
        ("transc", _int),
        ("fill", _int),
        ("epilogue", _uint),
        ("bias", _size),
        ("bias_stride", _long),
        ("aux", _size),
        ("aux_ld", _long),
        ("aux_stride", _long),
        ("alpha_stride", _long),
        ("multiprocessors", _int),
        ("aux_type", _int),
        ("a_scale", _size),
        ("b_scale", _size),
        ("c_scale", _size),
        ("d_scale", _size),
        ("amax", _size),
        ("bias_type", _int),
        ("fast", ctypes.c_int8),
    )
    numbers = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 22, 17, 18, 19, 20, 21, 26, 25)


class Layout(_Descriptor):
    """cublasLtMatrixLayout_t."""

    _fields_ = (
        ("kind", _int),
        ("order", _int),
        ("rows", _size),
        ("columns", _size),
        ("leading", _long),
        ("count", _int),
        ("stride", _long),
        ("plane", _long),
    )
    numbers = (0, 1, 2, 3, 4, 5, 6, 7)


class Preference(_Descriptor):
    """cublasLtMatmulPreference_t, of which nothing is asked here."""

    _fields_ = (
        ("search", _uint),
        ("reduction", _uint),
        ("workspace", _size),
        ("alignment_a", _uint),
        ("alignment_b", _uint),
        ("alignment_c", _uint),
        ("alignment_d", _uint),
        ("waves", ctypes.c_float),
        ("implementations", _size),
    )
    numbers = (0, 3, 1, 5, 6, 7, 8, 9, 12)


def _product(place: int, compute: int, scale: int) -> Product:
    one = Product.at(place)
    ctypes.memset(place, 0, ctypes.sizeof(one))
    one.compute, one.scale, one.epilogue, one.aux_type, one.bias_type = compute, scale, 1, -1, -1
    return one


def _layout(place: int, kind: int, rows: int, columns: int, leading: int) -> Layout:
    one = Layout.at(place)
    ctypes.memset(place, 0, ctypes.sizeof(one))
    one.kind, one.rows, one.columns, one.leading, one.count = kind, rows, columns, leading, 1
    return one


def _new(s: Session, place: int, kind: type[_Descriptor]) -> int:
    """Room for a descriptor, whose address goes where the caller wants it."""
    one = kind()
    address = ctypes.addressof(one)
    s.library.objects[address] = one, one
    put(place, address)
    return address


@immediate
@CUBLASLT.row("cublasLtCreate")
def create(s: Session, place: Address) -> None:
    put(place, s.add(Context()))


@immediate
@CUBLASLT.row("cublasLtDestroy")
def destroy(s: Session, handle: Handle) -> None:
    s.get(handle, Context)
    s.remove(handle)


@immediate
@CUBLASLT.row("cublasLtGetVersion")
def version(s: Session) -> Size:
    return VERSION


@immediate
@CUBLASLT.row("cublasLtGetStatusName", also="cublasLtGetStatusString")
def status_name(s: Session, status: Int) -> Address:
    return lasting(NAMES.get(status, "<unknown>"))


@immediate
@CUBLASLT.row("cublasLtMatmulDescInit_internal")
def init_product(s: Session, place: Address, size: Size, compute: Int, scale: Int) -> None:
    _product(place, compute, scale)


@immediate
@CUBLASLT.row("cublasLtMatmulDescCreate")
def create_product(s: Session, place: Address, compute: Int, scale: Int) -> None:
    _product(_new(s, place, Product), compute, scale)


@immediate
@CUBLASLT.row("cublasLtMatrixLayoutInit_internal")
def init_layout(
    s: Session, place: Address, size: Size, kind: Int, rows: Size, columns: Size, leading: Int64
) -> None:
    _layout(place, kind, rows, columns, leading)


@immediate
@CUBLASLT.row("cublasLtMatrixLayoutCreate")
def create_layout(s: Session, place: Address, kind: Int, rows: Size, columns: Size, leading: Int64) -> None:
    _layout(_new(s, place, Layout), kind, rows, columns, leading)


@immediate
@CUBLASLT.row("cublasLtMatmulPreferenceInit_internal")
def init_preference(s: Session, place: Address, size: Size) -> None:
    ctypes.memset(ctypes.addressof(Preference.at(place)), 0, ctypes.sizeof(Preference))


@immediate
@CUBLASLT.row("cublasLtMatmulPreferenceCreate")
def create_preference(s: Session, place: Address) -> None:
    _new(s, place, Preference)


@immediate
@CUBLASLT.row("cublasLt{T}Destroy", "MatmulDesc MatrixLayout MatmulPreference")
def destroy_descriptor(s: Session, descriptor: Address) -> None:
    s.remove(descriptor)


_KINDS: dict[str, type[_Descriptor]] = {
    "MatmulDesc": Product,
    "MatrixLayout": Layout,
    "MatmulPreference": Preference,
}


@immediate
@CUBLASLT.row("cublasLt{T}SetAttribute", " ".join(_KINDS))
def set_attribute(s: Session, descriptor: Address, attribute: Int, value: Address, size: Size) -> None:
    address, most = _KINDS[s.letter].at(descriptor).field(attribute)
    if size != most or not value:
        raise Failed(INVALID_VALUE, f"attribute {attribute} has {most} bytes, {size} are given")
    ctypes.memmove(address, value, size)


@immediate
@CUBLASLT.row("cublasLt{T}GetAttribute", " ".join(_KINDS))
def get_attribute(
    s: Session, descriptor: Address, attribute: Int, value: Address, size: Size, written: Address
) -> None:
    address, most = _KINDS[s.letter].at(descriptor).field(attribute)
    put(written, most)
    if value and size:
        if size < most:
            raise Failed(INVALID_VALUE, f"attribute {attribute} has {most} bytes, there is room for {size}")
        ctypes.memmove(value, address, most)
