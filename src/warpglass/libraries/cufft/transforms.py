"""Transforms: NumPy's in double precision, rounded to the type asked for; like cuFFT's they are not scaled.

Elements go through the program's own functions, if the plan has some, on the device.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ..frame import Device, Failed, Int, Session
from ..memory import Array
from .callbacks import LOAD, STORE, load, store
from .library import CUFFT, INVALID_PLAN, TYPES, Layout, Plan, halved, plan_of

_FORWARD = -1


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
    half = halved(plan.extents)
    room = Layout((*half[:-1], 2 * half[-1]), 1, 2 * prod(half))
    return (room, target) if real == "from" else (source, room)


def _execute(s: Session, plan: Plan, source: int, target: int, *, forward: bool) -> None:
    if not plan.kind:
        raise Failed(INVALID_PLAN, "the plan was never made")
    read, written, real = TYPES[plan.kind]
    sides = _padded(plan, real) if source == target else plan.sides
    shapes = (
        halved(plan.extents) if real == "to" else plan.extents,
        halved(plan.extents) if real == "from" else plan.extents,
    )
    whole = tuple((plan.batch, *shape) for shape in shapes)
    content = (
        load(s, plan, source, whole[0], sides[0], read)
        if LOAD in plan.callbacks
        else _view(s, source, whole[0], sides[0], read)
    )
    found = _transform(content, plan.extents, real, forward)
    if STORE in plan.callbacks:
        store(s, plan, target, found, sides[1], written)
    else:
        _view(s, target, whole[1], sides[1], written, written=True)[...] = found


def _view(
    s: Session, place: int, shape: tuple[int, ...], side: Layout, kind: str, *, written: bool = False
) -> Array:
    return s.memory.strided(place, shape, (side.distance, *side.steps()), kind, written=written)


@CUFFT.row("cufftExec{T}", "C2C Z2Z")
def execute(s: Session, plan: Int, source: Device, target: Device, direction: Int) -> None:
    _execute(s, plan_of(s, plan), source, target, forward=direction == _FORWARD)


@CUFFT.row("cufftExec{T}", "R2C C2R D2Z Z2D")
def execute_real(s: Session, plan: Int, source: Device, target: Device) -> None:
    _execute(s, plan_of(s, plan), source, target, forward=True)


@CUFFT.row("cufftXtExec")
def execute_xt(s: Session, plan: Int, source: Device, target: Device, direction: Int) -> None:
    _execute(s, plan_of(s, plan), source, target, forward=direction == _FORWARD)
