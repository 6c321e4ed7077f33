"""Incomplete factors: LU within the pattern of a matrix in compressed rows (csrilu02)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...numba_device.calls import put
from ..frame import Address, Context, Device, Failed, Handle, Int, Session, immediate
from .library import ALL, CUSPARSE
from .objects import Description

_ZERO_PIVOT = 9


@dataclass(eq=False)
class Incomplete(Context):
    """csrilu02Info_t: the first pivot that is 0, or -1."""

    pivot: int = -1


@immediate
@CUSPARSE.row("cusparseCreateCsrilu02Info")
def create(s: Session, place: Address) -> None:
    put(place, s.add(Incomplete()))


@immediate
@CUSPARSE.row("cusparseDestroyCsrilu02Info")
def destroy(s: Session, info: Handle) -> None:
    s.get(info, Incomplete)
    s.remove(info)


CUSPARSE.sizes(
    "cusparse{T}csrilu02_bufferSize", ALL, "Handle Int Int Handle Device Device Device Handle >Address"
)


@CUSPARSE.row(
    "cusparse{T}csrilu02_analysis", ALL, kinds="Handle Int Int Handle Device Device Device Handle Int Device"
)
def analyse(s: Session, *arguments: int) -> None:
    """Nothing is to be known beforehand."""


@CUSPARSE.row("cusparse{T}csrilu02", ALL)
def factor(
    s: Session,
    handle: Handle,
    m: Int,
    nnz: Int,
    description: Handle,
    values: Device,
    offsets: Device,
    indices: Device,
    info: Handle,
    policy: Int,
    work: Device,
) -> None:
    base = s.get(description, Description).base
    content = s.memory.flat(values, nnz, s.element, written=True)
    columns = (s.memory.flat(indices, nnz, "i4") - base).tolist()
    starts = (s.memory.flat(offsets, m + 1, "i4") - base).tolist()
    found, pivot = _factors(content.tolist(), columns, starts)
    content[...] = found
    s.get(info, Incomplete).pivot = pivot if pivot < 0 else pivot + base


def _factors(values: list[Any], columns: list[int], starts: list[int]) -> tuple[list[Any], int]:
    """L without its diagonal of ones and U, in the places of the values, and the first pivot that is 0."""
    diagonals: list[int] = []  # where each row has its diagonal
    zero = -1
    for row in range(len(starts) - 1):
        own = {columns[at]: at for at in range(starts[row], starts[row + 1])}
        for column in sorted(one for one in own if one < row):
            pivot = values[diagonals[column]] if diagonals[column] >= 0 else 0
            if pivot == 0:
                continue
            factor = values[own[column]] = values[own[column]] / pivot
            for at in range(diagonals[column] + 1, starts[column + 1]):
                if columns[at] in own:
                    values[own[columns[at]]] -= factor * values[at]
        diagonals.append(own.get(row, -1))
        if zero < 0 and (diagonals[row] < 0 or values[diagonals[row]] == 0):
            zero = row
    return values, zero


@CUSPARSE.row("cusparseXcsrilu02_zeroPivot")
def zero_pivot(s: Session, handle: Handle, info: Handle, place: Address) -> None:
    found = s.get(info, Incomplete).pivot
    s.memory.put(place, found, "i4")
    if found >= 0:
        raise Failed(_ZERO_PIVOT, f"pivot {found} is 0")
