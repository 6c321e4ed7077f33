"""Sparse solutions in steps (cusolverSp, cusolverRf): analysis, factors, solutions; SciPy's LU behind all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numba_device.calls import put
from ..cusparse.library import CUSPARSE
from ..cusparse.objects import Description
from ..frame import Address, Context, Device, Double, Failed, Handle, Int, Session, immediate
from ..lapack import scipy
from .library import CUSOLVER, INVALID_VALUE

_LETTERS = "S D C Z"
_SITES = ("", "Host")


@dataclass(eq=False)
class Steps(Context):
    """What is known of a matrix so far; `singular` is the first pivot that is 0, or -1."""

    matrix: Any = None
    factor: Any = None
    singular: int = -1


def matrix_of(s: Session, n: int, nnz: int, base: int, parts: tuple[int, int, int], dtype: Any) -> Any:
    """A square matrix by its values, offsets and columns, copied."""
    values, rows, columns = parts
    return scipy(s, "sparse").csr_matrix(
        (
            s.memory.flat(values, nnz, dtype).copy(),
            s.memory.flat(columns, nnz, "i4") - base,
            s.memory.flat(rows, n + 1, "i4") - base,
        ),
        shape=(n, n),
    )


def base_of(s: Session, description: int) -> int:
    """The base of a matrix's indices."""
    found = CUSPARSE.objects.get(description, (None,))[0]
    if not isinstance(found, Description):
        raise Failed(INVALID_VALUE, f"{description:#x} is no description of a matrix")
    return found.base


def _factor(s: Session, steps: Steps) -> None:
    if steps.matrix is None:
        raise Failed(INVALID_VALUE, "the matrix is not known yet")
    try:
        steps.factor, steps.singular = scipy(s, "sparse.linalg").splu(steps.matrix.tocsc()), -1
    except RuntimeError:  # exactly singular
        steps.factor, steps.singular = None, int(np.argmin(np.abs(steps.matrix.diagonal())))


def _solved(steps: Steps, right: Any) -> Any:
    if steps.factor is None:
        return np.full(right.shape, np.nan, right.dtype)
    return steps.factor.solve(right)


# ---------------------------------------------------------------------------------------- objects
_INFOS = "CsrqrInfo CsrqrInfoHost CsrcholInfo CsrcholInfoHost CsrluInfoHost"


@immediate
@CUSOLVER.row("cusolverSpCreate{T}", _INFOS, also="cusolverRfCreate")
def create(s: Session, place: Address) -> None:
    put(place, s.add(Steps()))


@immediate
@CUSOLVER.row("cusolverSpDestroy{T}", _INFOS, also="cusolverRfDestroy")
def destroy(s: Session, handle: Handle) -> None:
    s.get(handle, Steps)
    s.remove(handle)


# ---------------------------------------------------------------------------------------- analysis, room
_NAMES = {"qr": _SITES, "chol": _SITES, "lu": ("Host",)}  # where each factorisation is done
for _kind, _sites in _NAMES.items():
    _extents = "Int Int Int" if _kind == "qr" else "Int Int"
    for _site in _sites:

        @CUSOLVER.row(
            f"cusolverSpXcsr{_kind}Analysis{_site}", kinds=f"Handle {_extents} Handle Device Device Handle"
        )
        def analyse(s: Session, *arguments: int) -> None:
            """Nothing is to be known beforehand."""

        @CUSOLVER.row(
            f"cusolverSp{{T}}csr{_kind}BufferInfo{_site}",
            _LETTERS,
            kinds=f"Handle {_extents} Handle Device Device Device Handle Address Address",
        )
        def room(s: Session, *arguments: int) -> None:
            for place in arguments[-2:]:
                put(place, 1)

        for _letters, _real in (("S C", "Single"), ("D Z", "Double")):

            @CUSOLVER.row(
                f"cusolverSp{{T}}csr{_kind}ZeroPivot{_site}", _letters, kinds=f"Handle Handle {_real} Address"
            )
            def zero_pivot(s: Session, handle: int, info: int, tolerance: float, place: int) -> None:
                s.memory.put(place, s.get(info, Steps).singular, "i4")


# ---------------------------------------------------------------------------------------- factors
for _letters, _real in (("S C", "Single"), ("D Z", "Double")):
    _setup = f"Handle Int Int Int Handle Device Device Device {_real} Handle"

    @CUSOLVER.row("cusolverSp{T}csrqrSetup", _letters, also="cusolverSp{T}csrqrSetupHost", kinds=_setup)
    def set_up(
        s: Session,
        handle: int,
        m: int,
        n: int,
        nnz: int,
        description: int,
        values: int,
        rows: int,
        columns: int,
        shift: float,
        info: int,
    ) -> None:
        matrix = matrix_of(s, n, nnz, base_of(s, description), (values, rows, columns), s.element)
        if shift:
            matrix = matrix - shift * scipy(s, "sparse").identity(n, dtype=s.element, format="csr")
        s.get(info, Steps).matrix = matrix

    @CUSOLVER.row(
        "cusolverSp{T}csrluFactorHost",
        _letters,
        kinds=f"Handle Int Int Handle Device Device Device Handle {_real} Device",
    )
    def factor_lu(
        s: Session,
        handle: int,
        n: int,
        nnz: int,
        description: int,
        values: int,
        rows: int,
        columns: int,
        info: int,
        threshold: float,
        work: int,
    ) -> None:
        factor(s, handle, n, nnz, description, values, rows, columns, info, work)


@CUSOLVER.row("cusolverSp{T}csrqrFactor", _LETTERS, also="cusolverSp{T}csrqrFactorHost")
def factor_qr(
    s: Session, handle: Handle, m: Int, n: Int, nnz: Int, b: Device, x: Device, info: Handle, work: Device
) -> None:
    steps = s.get(info, Steps)
    _factor(s, steps)
    if b and x:
        solve(s, handle, n, b, x, info, work)


@CUSOLVER.row("cusolverSp{T}csrcholFactor", _LETTERS, also="cusolverSp{T}csrcholFactorHost")
def factor(
    s: Session,
    handle: Handle,
    n: Int,
    nnz: Int,
    description: Handle,
    values: Device,
    rows: Device,
    columns: Device,
    info: Handle,
    work: Device,
) -> None:
    steps = s.get(info, Steps)
    steps.matrix = matrix_of(s, n, nnz, base_of(s, description), (values, rows, columns), s.element)
    _factor(s, steps)


# ---------------------------------------------------------------------------------------- solutions
@CUSOLVER.row(
    "cusolverSp{T}csrcholSolve",
    _LETTERS,
    also="cusolverSp{T}csrcholSolveHost cusolverSp{T}csrluSolveHost",
)
def solve(s: Session, handle: Handle, n: Int, b: Device, x: Device, info: Handle, work: Device) -> None:
    right = s.memory.flat(b, n, s.element).copy()
    s.memory.flat(x, n, s.element, written=True)[...] = _solved(s.get(info, Steps), right)


@CUSOLVER.row("cusolverSp{T}csrqrSolve", _LETTERS, also="cusolverSp{T}csrqrSolveHost")
def solve_qr(
    s: Session, handle: Handle, m: Int, n: Int, b: Device, x: Device, info: Handle, work: Device
) -> None:
    solve(s, handle, n, b, x, info, work)


@CUSOLVER.row("cusolverSpXcsrluNnzHost")
def count_factors(s: Session, handle: Handle, lower: Address, upper: Address, info: Handle) -> None:
    found = s.get(info, Steps).factor
    if found is None:
        raise Failed(INVALID_VALUE, "the matrix has no factors")
    s.memory.put(lower, found.L.nnz, "i4")
    s.memory.put(upper, found.U.nnz, "i4")


@CUSOLVER.row("cusolverSp{T}csrluExtractHost", _LETTERS)
def extract(
    s: Session,
    handle: Handle,
    rows: Address,
    columns: Address,
    description_l: Handle,
    values_l: Address,
    offsets_l: Address,
    indices_l: Address,
    description_u: Handle,
    values_u: Address,
    offsets_u: Address,
    indices_u: Address,
    info: Handle,
    work: Address,
) -> None:
    found = s.get(info, Steps).factor
    if found is None:
        raise Failed(INVALID_VALUE, "the matrix has no factors")
    for place, order in ((rows, found.perm_r), (columns, found.perm_c)):
        s.memory.flat(place, len(order), "i4", written=True)[...] = np.argsort(order)
    sides = (
        (found.L, description_l, values_l, offsets_l, indices_l),
        (found.U, description_u, values_u, offsets_u, indices_u),
    )
    for part, description, values, offsets, indices in sides:
        matrix, base = part.tocsr(), base_of(s, description)
        matrix.sort_indices()
        s.memory.flat(values, matrix.nnz, s.element, written=True)[...] = matrix.data
        s.memory.flat(offsets, matrix.shape[0] + 1, "i4", written=True)[...] = matrix.indptr + base
        s.memory.flat(indices, matrix.nnz, "i4", written=True)[...] = matrix.indices + base


# ---------------------------------------------------------------------------------------- refactoring
@immediate
@CUSOLVER.row("cusolverRf{T}", "SetMatrixFormat SetAlgs", kinds="Handle Int Int")
def rf_settings(s: Session, *arguments: int) -> None:
    """How factors are stored and found matters to nobody here."""


@immediate
@CUSOLVER.row("cusolverRfSetResetValuesFastMode", kinds="Handle Int")
def rf_mode(s: Session, *arguments: int) -> None:
    """Likewise."""


@immediate
@CUSOLVER.row("cusolverRfSetNumericProperties")
def rf_properties(s: Session, handle: Handle, zero: Double, boost: Double) -> None:
    """Likewise."""


_TRIANGLE = "Int Device Device Device"


@CUSOLVER.row(
    "cusolverRfSetup{T}",
    "Host Device",
    kinds=f"Int Int Device Device Device {_TRIANGLE} {_TRIANGLE} Device Device Handle",
)
def rf_set_up(s: Session, n: int, nnz: int, rows: int, columns: int, values: int, *others: int) -> None:
    s.get(others[-1], Steps).matrix = matrix_of(s, n, nnz, 0, (values, rows, columns), "f8")


@CUSOLVER.row("cusolverRfAnalyze")
def rf_analyse(s: Session, handle: Handle) -> None:
    s.get(handle, Steps)


@CUSOLVER.row("cusolverRfResetValues")
def rf_reset(
    s: Session,
    n: Int,
    nnz: Int,
    rows: Device,
    columns: Device,
    values: Device,
    p: Device,
    q: Device,
    handle: Handle,
) -> None:
    s.get(handle, Steps).matrix = matrix_of(s, n, nnz, 0, (values, rows, columns), "f8")


@CUSOLVER.row("cusolverRfRefactor")
def rf_refactor(s: Session, handle: Handle) -> None:
    _factor(s, s.get(handle, Steps))


@CUSOLVER.row("cusolverRfSolve")
def rf_solve(
    s: Session,
    handle: Handle,
    p: Device,
    q: Device,
    count: Int,
    work: Device,
    leading_work: Int,
    x: Device,
    leading: Int,
) -> None:
    steps = s.get(handle, Steps)
    if steps.matrix is None:
        raise Failed(INVALID_VALUE, "the matrix is not known yet")
    target = s.memory.matrix(x, steps.matrix.shape[0], count, leading, "f8", written=True)
    target[...] = _solved(steps, target.copy())
