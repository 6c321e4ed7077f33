"""Handles, settings, and descriptions of matrices for older functions."""

from __future__ import annotations

from ...numba_device.calls import put, put_int
from ...numba_device.device_calls import lasting
from ..frame import Address, Context, Handle, Int, Session, immediate
from .library import CUSPARSE, STATUSES, VERSION
from .objects import Description


@immediate
@CUSPARSE.row("cusparseCreate")
def create(s: Session, place: Address) -> None:
    put(place, s.add(Context()))


@immediate
@CUSPARSE.row("cusparseDestroy")
def destroy(s: Session, handle: Handle) -> None:
    s.get(handle, Context)
    s.remove(handle)


@immediate
@CUSPARSE.row("cusparseGetVersion")
def version(s: Session, handle: Handle, place: Address) -> None:
    put_int(place, VERSION)


@immediate
@CUSPARSE.row("cusparseGetProperty")
def get_property(s: Session, kind: Int, place: Address) -> None:
    put_int(place, (VERSION // 1000, VERSION // 100 % 10, VERSION % 100)[kind])


@immediate
@CUSPARSE.row("cusparseGetErrorName")
def error_name(s: Session, status: Int) -> Address:
    return lasting(STATUSES.get(status, ("unrecognized error code", ""))[0])


@immediate
@CUSPARSE.row("cusparseGetErrorString")
def error_string(s: Session, status: Int) -> Address:
    return lasting(STATUSES.get(status, ("", "unrecognized error code"))[1])


@immediate
@CUSPARSE.row("cusparseSetStream")
def set_stream(s: Session, handle: Handle, stream: Handle) -> None:
    s.get(handle, Context).stream = stream


@immediate
@CUSPARSE.row("cusparseGetStream")
def get_stream(s: Session, handle: Handle, place: Address) -> None:
    put(place, s.get(handle, Context).stream)


@immediate
@CUSPARSE.row("cusparseSetPointerMode")
def set_pointer_mode(s: Session, handle: Handle, mode: Int) -> None:
    s.get(handle, Context).device_pointers = bool(mode)


@immediate
@CUSPARSE.row("cusparseGetPointerMode")
def get_pointer_mode(s: Session, handle: Handle, place: Address) -> None:
    put_int(place, s.get(handle, Context).device_pointers)


@immediate
@CUSPARSE.row("cusparseCreateMatDescr")
def create_description(s: Session, place: Address) -> None:
    put(place, s.add(Description()))


@immediate
@CUSPARSE.row("cusparseDestroyMatDescr")
def destroy_description(s: Session, description: Handle) -> None:
    s.remove(description)


@immediate
@CUSPARSE.row("cusparseSetMatType")
def set_type(s: Session, description: Handle, value: Int) -> None:
    s.get(description, Description).kind = value


@immediate
@CUSPARSE.row("cusparseSetMatIndexBase")
def set_base(s: Session, description: Handle, value: Int) -> None:
    s.get(description, Description).base = value


@immediate
@CUSPARSE.row("cusparseSetMatFillMode")
def set_fill(s: Session, description: Handle, value: Int) -> None:
    s.get(description, Description).fill = value


@immediate
@CUSPARSE.row("cusparseSetMatDiagType")
def set_diagonal(s: Session, description: Handle, value: Int) -> None:
    s.get(description, Description).diagonal = value


@immediate
@CUSPARSE.row("cusparseGetMatType")
def get_type(s: Session, description: Handle) -> Int:
    return s.get(description, Description).kind


@immediate
@CUSPARSE.row("cusparseGetMatIndexBase")
def get_base(s: Session, description: Handle) -> Int:
    return s.get(description, Description).base


@immediate
@CUSPARSE.row("cusparseGetMatFillMode")
def get_fill(s: Session, description: Handle) -> Int:
    return s.get(description, Description).fill


@immediate
@CUSPARSE.row("cusparseGetMatDiagType")
def get_diagonal(s: Session, description: Handle) -> Int:
    return s.get(description, Description).diagonal
