"""Plans: making them, plain or with layouts, and what can be set of them and asked."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...numba_device.calls import put, put_int
from ..frame import Address, Device, Failed, Handle, Int, Int64, Session, immediate
from .library import (
    C2C,
    C2R,
    CUFFT,
    D2Z,
    INVALID_SIZE,
    INVALID_TYPE,
    INVALID_VALUE,
    NOT_SUPPORTED,
    R2C,
    TYPES,
    Z2D,
    Z2Z,
    Layout,
    Plan,
    halved,
    plan_of,
)

_VERSION = 12000
# cudaDataType of cufftXtMakePlanMany: what is read and what is written.
_DATA_TYPES = {(4, 4): C2C, (0, 4): R2C, (4, 0): C2R, (5, 5): Z2Z, (1, 5): D2Z, (5, 1): Z2D}


def _make(
    plan: Plan, kind: int, extents: Sequence[int], batch: int, layouts: Sequence[Layout | None] = (None, None)
) -> None:
    """Make a plan; layouts that are None are the plain ones of its type."""
    if kind not in TYPES:
        raise Failed(INVALID_TYPE, f"there is no transform of type {kind:#x}")
    if min(*extents, batch) < 1:
        raise Failed(INVALID_SIZE, f"a transform of {'x'.join(map(str, extents))}, {batch} times")
    plan.kind, plan.extents, plan.batch = kind, tuple(extents), batch
    real = TYPES[kind][2]
    plain = (halved(extents) if real == "to" else extents, halved(extents) if real == "from" else extents)
    plan.sides = tuple(
        layout or Layout(tuple(shape), 1, prod(shape)) for layout, shape in zip(layouts, plain, strict=True)
    )
    plan.options["plain"] = int(layouts[0] is None)


@immediate
@CUFFT.row("cufftCreate")
def create(s: Session, place: Address) -> None:
    put_int(place, s.number(Plan()))


@immediate
@CUFFT.row("cufftDestroy")
def destroy(s: Session, plan: Int) -> None:
    plan_of(s, plan)
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
    plan_of(s, plan).stream = stream


@immediate
@CUFFT.row("cufftSetAutoAllocation")
def set_auto(s: Session, plan: Int, on: Int) -> None:
    plan_of(s, plan)


@immediate
@CUFFT.row("cufftSetWorkArea")
def set_work_area(s: Session, plan: Int, place: Device) -> None:
    plan_of(s, plan)


@immediate
@CUFFT.row("cufftGetSize")
def get_size(s: Session, plan: Int, size: Address) -> None:
    plan_of(s, plan)
    put(size, 0)


# ---------------------------------------------------------------------------------------- making plans
@immediate
@CUFFT.row("cufftMakePlan1d")
def make_1d(s: Session, plan: Int, nx: Int, kind: Int, batch: Int, size: Address) -> None:
    _make(plan_of(s, plan), kind, (nx,), batch)
    put(size, 0)


@immediate
@CUFFT.row("cufftMakePlan2d")
def make_2d(s: Session, plan: Int, nx: Int, ny: Int, kind: Int, size: Address) -> None:
    _make(plan_of(s, plan), kind, (nx, ny), 1)
    put(size, 0)


@immediate
@CUFFT.row("cufftMakePlan3d")
def make_3d(s: Session, plan: Int, nx: Int, ny: Int, nz: Int, kind: Int, size: Address) -> None:
    _make(plan_of(s, plan), kind, (nx, ny, nz), 1)
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
    _make_many(s, plan_of(s, plan), "i4", rank, n, sides, kind, batch)
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
    _make_many(s, plan_of(s, plan), "i8", rank, n, sides, kind, batch)
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
    _make_many(s, plan_of(s, plan), "i8", rank, n, sides, kind, batch)
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


@immediate
@CUFFT.row("cufftEstimate1d")
def estimate_1d(s: Session, nx: Int, kind: Int, batch: Int, size: Address) -> None:
    put(size, 0)
