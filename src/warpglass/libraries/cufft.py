"""Virtual cuFFT: plans of 1 to 3 dimensions, batches and advanced layouts, of all types, in place or not.

Transforms are NumPy's in double precision, rounded to the type asked for; like cuFFT's they are not scaled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from ..numba_device.calls import put, put_int
from .frame import (
    Address,
    Context,
    Device,
    Failed,
    Handle,
    Int,
    Int64,
    Library,
    Session,
    Statuses,
    immediate,
)
from .memory import Array

INVALID_PLAN, INVALID_TYPE, INVALID_VALUE, INTERNAL_ERROR, INVALID_SIZE, NOT_SUPPORTED = 1, 3, 4, 5, 8, 16
CUFFT = Library(
    "cuFFT",
    "cufft",
    ("libcufft.so.12", "libcufft.so.11"),
    Statuses(INVALID_PLAN, INVALID_VALUE, INTERNAL_ERROR, NOT_SUPPORTED),
)
_VERSION = 12000
_FORWARD = -1
C2C, R2C, C2R, Z2Z, D2Z, Z2D = 0x29, 0x2A, 0x2C, 0x69, 0x6A, 0x6C
# cufftType: what is read and what is written, and whether the transform is from or to real numbers.
_TYPES = {
    C2C: ("c8", "c8", ""),
    R2C: ("f4", "c8", "from"),
    C2R: ("c8", "f4", "to"),
    Z2Z: ("c16", "c16", ""),
    D2Z: ("f8", "c16", "from"),
    Z2D: ("c16", "f8", "to"),
}
# cudaDataType of cufftXtMakePlanMany: what is read and what is written.
_DATA_TYPES = {(4, 4): C2C, (0, 4): R2C, (4, 0): C2R, (5, 5): Z2Z, (1, 5): D2Z, (5, 1): Z2D}


@dataclass(frozen=True)
class Layout:
    """How one side of a plan lies in memory, in elements: extents around it, steps, the next batch."""

    embed: tuple[int, ...]
    stride: int
    distance: int

    def steps(self) -> tuple[int, ...]:
        """The step of each dimension."""
        inner = [self.stride]
        for extent in reversed(self.embed[1:]):
            inner.append(inner[-1] * extent)
        return tuple(reversed(inner))


@dataclass(eq=False)
class Plan(Context):
    """A plan; `kind` is its cufftType, 0 before it is made."""

    kind: int = 0
    extents: tuple[int, ...] = ()
    batch: int = 0
    sides: tuple[Layout, ...] = field(default=())


def _halved(extents: Sequence[int]) -> tuple[int, ...]:
    return (*extents[:-1], extents[-1] // 2 + 1)


def _make(
    plan: Plan, kind: int, extents: Sequence[int], batch: int, layouts: Sequence[Layout | None] = (None, None)
) -> None:
    """Make a plan; layouts that are None are the plain ones of its type."""
    if kind not in _TYPES:
        raise Failed(INVALID_TYPE, f"there is no transform of type {kind:#x}")
    if min(*extents, batch) < 1:
        raise Failed(INVALID_SIZE, f"a transform of {'x'.join(map(str, extents))}, {batch} times")
    plan.kind, plan.extents, plan.batch = kind, tuple(extents), batch
    real = _TYPES[kind][2]
    plain = (_halved(extents) if real == "to" else extents, _halved(extents) if real == "from" else extents)
    plan.sides = tuple(
        layout or Layout(tuple(shape), 1, prod(shape)) for layout, shape in zip(layouts, plain, strict=True)
    )
    plan.options["plain"] = int(layouts[0] is None)


@immediate
@CUFFT.row("cufftCreate")
def create(s: Session, place: Address) -> None:
    put_int(place, s.number(Plan()))


def _plan(s: Session, handle: int) -> Plan:
    return s.get(handle, Plan)


@immediate
@CUFFT.row("cufftDestroy")
def destroy(s: Session, plan: Int) -> None:
    _plan(s, plan)
    s.remove(plan)


@immediate
@CUFFT.row("cufftGetVersion")
def version(s: Session, place: Address) -> None:
    put_int(place, _VERSION)


@immediate
@CUFFT.row("cufftGetProperty")
def get_property(s: Session, kind: Int, place: Address) -> None:
    put_int(place, (_VERSION // 1000, _VERSION // 100 % 10, _VERSION % 100)[kind])


@immediate
@CUFFT.row("cufftSetStream")
def set_stream(s: Session, plan: Int, stream: Handle) -> None:
    _plan(s, plan).stream = stream


@immediate
@CUFFT.row("cufftSetAutoAllocation")
def set_auto(s: Session, plan: Int, on: Int) -> None:
    _plan(s, plan)


@immediate
@CUFFT.row("cufftSetWorkArea")
def set_work_area(s: Session, plan: Int, place: Device) -> None:
    _plan(s, plan)


@immediate
@CUFFT.row("cufftGetSize")
def get_size(s: Session, plan: Int, size: Address) -> None:
    _plan(s, plan)
    put(size, 0)


# ---------------------------------------------------------------------------------------- making plans
@immediate
@CUFFT.row("cufftMakePlan1d")
def make_1d(s: Session, plan: Int, nx: Int, kind: Int, batch: Int, size: Address) -> None:
    _make(_plan(s, plan), kind, (nx,), batch)
    put(size, 0)


@immediate
@CUFFT.row("cufftMakePlan2d")
def make_2d(s: Session, plan: Int, nx: Int, ny: Int, kind: Int, size: Address) -> None:
    _make(_plan(s, plan), kind, (nx, ny), 1)
    put(size, 0)


@immediate
@CUFFT.row("cufftMakePlan3d")
def make_3d(s: Session, plan: Int, nx: Int, ny: Int, nz: Int, kind: Int, size: Address) -> None:
    _make(_plan(s, plan), kind, (nx, ny, nz), 1)
    put(size, 0)


def _given(s: Session, word: str, rank: int, embed: int, stride: int, distance: int) -> Layout | None:
    if not embed:
        return None
    return Layout(tuple(int(one) for one in s.memory.flat(embed, rank, word)), stride, distance)


def _make_many(
    s: Session,
    plan: Plan,
    word: str,
    rank: int,
    n: int,
    sides: tuple[tuple[int, int, int], ...],
    kind: int,
    batch: int,
) -> None:
    if not 1 <= rank <= 3:
        raise Failed(INVALID_VALUE, f"{rank} dimensions; there may be 1 to 3")
    extents = [int(one) for one in s.memory.flat(n, rank, word)]
    layouts = [_given(s, word, rank, *side) for side in sides]
    if None in layouts:
        layouts = [None, None]
    _make(plan, kind, extents, batch, layouts)


@immediate
@CUFFT.row("cufftMakePlanMany")
def make_many(
    s: Session,
    plan: Int,
    rank: Int,
    n: Address,
    inembed: Address,
    istride: Int,
    idist: Int,
    onembed: Address,
    ostride: Int,
    odist: Int,
    kind: Int,
    batch: Int,
    size: Address,
) -> None:
    sides = (inembed, istride, idist), (onembed, ostride, odist)
    _make_many(s, _plan(s, plan), "i4", rank, n, sides, kind, batch)
    put(size, 0)


@immediate
@CUFFT.row("cufftMakePlanMany64")
def make_many_64(
    s: Session,
    plan: Int,
    rank: Int,
    n: Address,
    inembed: Address,
    istride: Int64,
    idist: Int64,
    onembed: Address,
    ostride: Int64,
    odist: Int64,
    kind: Int,
    batch: Int64,
    size: Address,
) -> None:
    sides = (inembed, istride, idist), (onembed, ostride, odist)
    _make_many(s, _plan(s, plan), "i8", rank, n, sides, kind, batch)
    put(size, 0)


@immediate
@CUFFT.row("cufftXtMakePlanMany")
def make_many_xt(
    s: Session,
    plan: Int,
    rank: Int,
    n: Address,
    inembed: Address,
    istride: Int64,
    idist: Int64,
    itype: Int,
    onembed: Address,
    ostride: Int64,
    odist: Int64,
    otype: Int,
    batch: Int64,
    size: Address,
    execution: Int,
) -> None:
    kind = _DATA_TYPES.get((itype, otype))
    if kind is None:
        raise Failed(NOT_SUPPORTED, f"transforms from cudaDataType {itype} to {otype} are not supported")
    sides = (inembed, istride, idist), (onembed, ostride, odist)
    _make_many(s, _plan(s, plan), "i8", rank, n, sides, kind, batch)
    put(size, 0)


@immediate
@CUFFT.row("cufftPlan1d")
def plan_1d(s: Session, place: Address, nx: Int, kind: Int, batch: Int) -> None:
    plan = Plan()
    _make(plan, kind, (nx,), batch)
    put_int(place, s.number(plan))


@immediate
@CUFFT.row("cufftPlan2d")
def plan_2d(s: Session, place: Address, nx: Int, ny: Int, kind: Int) -> None:
    plan = Plan()
    _make(plan, kind, (nx, ny), 1)
    put_int(place, s.number(plan))


@immediate
@CUFFT.row("cufftPlan3d")
def plan_3d(s: Session, place: Address, nx: Int, ny: Int, nz: Int, kind: Int) -> None:
    plan = Plan()
    _make(plan, kind, (nx, ny, nz), 1)
    put_int(place, s.number(plan))


@immediate
@CUFFT.row("cufftPlanMany")
def plan_many(
    s: Session,
    place: Address,
    rank: Int,
    n: Address,
    inembed: Address,
    istride: Int,
    idist: Int,
    onembed: Address,
    ostride: Int,
    odist: Int,
    kind: Int,
    batch: Int,
) -> None:
    plan = Plan()
    sides = (inembed, istride, idist), (onembed, ostride, odist)
    _make_many(s, plan, "i4", rank, n, sides, kind, batch)
    put_int(place, s.number(plan))


# ---------------------------------------------------------------------------------------- transforms
def _transform(content: Array, extents: tuple[int, ...], real: str, forward: bool) -> Array:
    axes = tuple(range(1, 1 + len(extents)))
    if real == "from":
        return np.fft.rfftn(content.astype("f8"), axes=axes)
    wide = content.astype("c16")
    if real == "to":
        return np.fft.irfftn(wide, s=extents, axes=axes, norm="forward")
    return np.fft.fftn(wide, axes=axes) if forward else np.fft.ifftn(wide, axes=axes, norm="forward")


def _padded(plan: Plan, real: str) -> tuple[Layout, ...]:
    """The sides of a plan in place: rows of real numbers leave room for the complex ones."""
    source, target = plan.sides
    if not plan.options["plain"] or not real:
        return source, target
    half = _halved(plan.extents)
    room = Layout((*half[:-1], 2 * half[-1]), 1, 2 * prod(half))
    return (room, target) if real == "from" else (source, room)


def _execute(s: Session, plan: Plan, source: int, target: int, *, forward: bool) -> None:
    if not plan.kind:
        raise Failed(INVALID_PLAN, "the plan was never made")
    read, written, real = _TYPES[plan.kind]
    sides = _padded(plan, real) if source == target else plan.sides
    shapes = (
        _halved(plan.extents) if real == "to" else plan.extents,
        _halved(plan.extents) if real == "from" else plan.extents,
    )
    views = [
        s.memory.strided(
            place,
            (plan.batch, *shape),
            (side.distance, *side.steps()),
            kind,
            written=number == 1,
        )
        for number, (place, shape, side, kind) in enumerate(
            zip((source, target), shapes, sides, (read, written), strict=True)
        )
    ]
    views[1][...] = _transform(views[0], plan.extents, real, forward)


@CUFFT.row("cufftExec{T}", "C2C Z2Z")
def execute(s: Session, plan: Int, source: Device, target: Device, direction: Int) -> None:
    _execute(s, _plan(s, plan), source, target, forward=direction == _FORWARD)


@CUFFT.row("cufftExec{T}", "R2C C2R D2Z Z2D")
def execute_real(s: Session, plan: Int, source: Device, target: Device) -> None:
    _execute(s, _plan(s, plan), source, target, forward=True)


@CUFFT.row("cufftXtExec")
def execute_xt(s: Session, plan: Int, source: Device, target: Device, direction: Int) -> None:
    _execute(s, _plan(s, plan), source, target, forward=direction == _FORWARD)


@immediate
@CUFFT.row("cufftEstimate1d")
def estimate_1d(s: Session, nx: Int, kind: Int, batch: Int, size: Address) -> None:
    put(size, 0)
