"""Virtual cuBLASLt: handles only; matmul is not supported yet, which programs are told by status."""

from __future__ import annotations

from ..numba_device.calls import put
from .frame import Address, Context, Handle, Library, Session, Size, Statuses, immediate

CUBLASLT = Library("cuBLASLt", "cublasLt", ("libcublasLt.so.13", "libcublasLt.so.12"), Statuses(1, 7, 14, 15))


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
    return 130002
