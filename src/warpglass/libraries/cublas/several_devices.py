"""Several devices (cublasXt): products of matrices of the host, here of one device."""

from __future__ import annotations

from ...numba_device.calls import put, put_int
from ..frame import Address, Context, Handle, Int, Session, immediate
from .context import CUBLAS
from .level1 import ALL
from .level3 import gemm


@immediate
@CUBLAS.row("cublasXtCreate")
def create(s: Session, place: Address) -> None:
    put(place, s.add(Context()))


@immediate
@CUBLAS.row("cublasXtDestroy")
def destroy(s: Session, handle: Handle) -> None:
    s.get(handle, Context)
    s.remove(handle)


@immediate
@CUBLAS.row("cublasXtDeviceSelect")
def select(s: Session, handle: Handle, count: Int, devices: Address) -> None:
    s.get(handle, Context)


@immediate
@CUBLAS.row("cublasXtSet{T}", "BlockDim PinningMemMode")
def set_option(s: Session, handle: Handle, value: Int) -> None:
    s.get(handle, Context).options[s.letter] = value


@immediate
@CUBLAS.row("cublasXtGet{T}", "BlockDim PinningMemMode")
def get_option(s: Session, handle: Handle, place: Address) -> None:
    put_int(place, s.get(handle, Context).options.get(s.letter, 0))


CUBLAS.row(
    "cublasXt{T}gemm",
    ALL,
    kinds="Handle Int Int Size Size Size Address Address Size Address Size Address Address Size",
)(gemm)
