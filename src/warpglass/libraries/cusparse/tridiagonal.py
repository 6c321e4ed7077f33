"""Tridiagonal systems (gtsv2), of batches at equal distances or interleaved."""

from __future__ import annotations

import ctypes

import numpy as np

from ..frame import Device, Handle, Int, Session
from ..memory import Array
from .library import ALL, CUSPARSE

_SIZE = ctypes.c_size_t
for _name, _kinds in (
    ("gtsv2", "Handle Int Int Device Device Device Device Int >Address"),
    ("gtsv2_nopivot", "Handle Int Int Device Device Device Device Int >Address"),
    ("gtsv2StridedBatch", "Handle Int Device Device Device Device Int Int >Address"),
    ("gtsvInterleavedBatch", "Handle Int Int Device Device Device Device Int >Address"),
):
    CUSPARSE.sizes(f"cusparse{{T}}{_name}_bufferSizeExt", ALL, _kinds, _SIZE)


def _solve(lower: Array, diagonal: Array, upper: Array, right: Array) -> Array:
    """The solution for these diagonals; the first of `lower` and the last of `upper` do not matter."""
    matrix = np.diag(diagonal) + np.diag(lower[1:], -1) + np.diag(upper[:-1], 1)
    return np.linalg.solve(matrix, right)


@CUSPARSE.row("cusparse{T}gtsv2", ALL, also="cusparse{T}gtsv2_nopivot")
def gtsv(
    s: Session,
    handle: Handle,
    m: Int,
    n: Int,
    lower: Device,
    diagonal: Device,
    upper: Device,
    b: Device,
    ldb: Int,
    work: Device,
) -> None:
    one, two, three = (s.memory.flat(place, m, s.element) for place in (lower, diagonal, upper))
    right = s.memory.matrix(b, m, n, ldb, s.element)
    right[...] = _solve(one, two, three, right)


@CUSPARSE.row("cusparse{T}gtsv2StridedBatch", ALL)
def gtsv_strided(
    s: Session,
    handle: Handle,
    m: Int,
    lower: Device,
    diagonal: Device,
    upper: Device,
    x: Device,
    count: Int,
    stride: Int,
    work: Device,
) -> None:
    for number in range(count):
        shift = number * stride * s.element.itemsize
        one, two, three, right = (s.memory.flat(p + shift, m, s.element) for p in (lower, diagonal, upper, x))
        right[...] = _solve(one, two, three, right)


@CUSPARSE.row("cusparse{T}gtsvInterleavedBatch", ALL)
def gtsv_interleaved(
    s: Session,
    handle: Handle,
    algorithm: Int,
    m: Int,
    lower: Device,
    diagonal: Device,
    upper: Device,
    x: Device,
    count: Int,
    work: Device,
) -> None:
    parts = [s.memory.flat(p, m * count, s.element).reshape(m, count) for p in (lower, diagonal, upper, x)]
    for number in range(count):
        one, two, three, right = (part[:, number] for part in parts)
        right[...] = _solve(one, two, three, right)
