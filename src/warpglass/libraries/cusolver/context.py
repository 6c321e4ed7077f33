"""Handles and settings: of dense and sparse functions, and of Jacobi's methods."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from ...numba_device.calls import put, put_int
from ..frame import Address, Context, Double, Handle, Int, Session, immediate
from .library import CUSOLVER, VERSION


class Parameters(Context):
    """Parameters of the generic functions."""


@dataclass(eq=False)
class Jacobi(Context):
    """What a program sets for Jacobi's methods; nothing of it matters here."""

    sorted: int = 1


@immediate
@CUSOLVER.row("cusolver{T}Create", "Dn Sp")
def create(s: Session, place: Address) -> None:
    put(place, s.add(Context()))


@immediate
@CUSOLVER.row("cusolver{T}Destroy", "Dn Sp")
def destroy(s: Session, handle: Handle) -> None:
    s.get(handle, Context)
    s.remove(handle)


@immediate
@CUSOLVER.row("cusolverDnCreate{T}", "Params")
def create_parameters(s: Session, place: Address) -> None:
    put(place, s.add(Parameters()))


@immediate
@CUSOLVER.row("cusolverDnCreate{T}", "SyevjInfo GesvdjInfo")
def create_jacobi(s: Session, place: Address) -> None:
    put(place, s.add(Jacobi()))


@immediate
@CUSOLVER.row("cusolverDnDestroy{T}", "Params SyevjInfo GesvdjInfo")
def destroy_parameters(s: Session, handle: Handle) -> None:
    s.remove(handle)


@immediate
@CUSOLVER.row("cusolver{T}SetStream", "Dn Sp")
def set_stream(s: Session, handle: Handle, stream: Handle) -> None:
    s.get(handle, Context).stream = stream


@immediate
@CUSOLVER.row("cusolver{T}GetStream", "Dn Sp")
def get_stream(s: Session, handle: Handle, place: Address) -> None:
    put(place, s.get(handle, Context).stream)


@immediate
@CUSOLVER.row("cusolverGetVersion")
def version(s: Session, place: Address) -> None:
    put_int(place, VERSION)


@immediate
@CUSOLVER.row("cusolverGetProperty")
def get_property(s: Session, kind: Int, place: Address) -> None:
    put_int(place, (VERSION // 1000, VERSION // 100 % 10, VERSION % 100)[kind])


@immediate
@CUSOLVER.row("cusolverDnX{T}SetTolerance", "syevj gesvdj")
def set_tolerance(s: Session, handle: Handle, tolerance: Double) -> None:
    s.get(handle, Jacobi)


@immediate
@CUSOLVER.row("cusolverDnX{T}SetMaxSweeps", "syevj gesvdj")
def set_sweeps(s: Session, handle: Handle, sweeps: Int) -> None:
    s.get(handle, Jacobi)


@immediate
@CUSOLVER.row("cusolverDnX{T}SetSortEig", "syevj gesvdj")
def set_sorted(s: Session, handle: Handle, on: Int) -> None:
    s.get(handle, Jacobi).sorted = on


@immediate
@CUSOLVER.row("cusolverDnX{T}GetResidual", "syevj gesvdj")
def get_residual(s: Session, handle: Handle, info: Handle, place: Address) -> None:
    put(place, 0, ctypes.c_double)


@immediate
@CUSOLVER.row("cusolverDnX{T}GetSweeps", "syevj gesvdj")
def get_sweeps(s: Session, handle: Handle, info: Handle, place: Address) -> None:
    put_int(place, 1)


@immediate
@CUSOLVER.row("cusolverDnSet{T}", "DeterministicMode MathMode")
def set_mode(s: Session, handle: Handle, mode: Int) -> None:
    s.get(handle, Context).options[s.letter] = mode
