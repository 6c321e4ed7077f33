"""Sparse solutions (cusolverSp): by QR, Cholesky and LU, here all by SciPy's direct solver."""

from __future__ import annotations

import numpy as np

from ..cusparse.library import CUSPARSE
from ..cusparse.objects import Description
from ..frame import Address, Device, Handle, Int, Session
from ..lapack import scipy
from .library import CUSOLVER


def _solve(
    s: Session, m: int, nnz: int, base: int, parts: tuple[int, int, int], b: int, x: int, singular: int
) -> None:
    values, rows, columns = parts
    matrix = scipy(s, "sparse").csr_matrix(
        (
            s.memory.flat(values, nnz, s.element),
            s.memory.flat(columns, nnz, "i4") - base,
            s.memory.flat(rows, m + 1, "i4") - base,
        ),
        shape=(m, m),
    )
    target = s.memory.flat(x, m, s.element, written=True)
    try:
        target[...] = scipy(s, "sparse.linalg").splu(matrix.tocsc()).solve(s.memory.flat(b, m, s.element))
        first = -1
    except RuntimeError:  # exactly singular
        diagonal = matrix.diagonal()
        first = int(np.argmin(np.abs(diagonal)))
        target[...] = np.nan
    s.memory.put(singular, first, "i4")


_ALSO = " ".join(f"cusolverSp{{T}}csrlsv{how}" for how in ("chol", "cholHost", "qrHost", "luHost"))
_KINDS = "Handle Int Int Handle Device Device Device Device {real} Int Device Address"


def _row(letters: str, real: str) -> None:
    kinds = _KINDS.format(real=real)

    @CUSOLVER.row("cusolverSp{T}csrlsvqr", letters, also=_ALSO, kinds=kinds)
    def solve(
        s: Session,
        handle: Handle,
        m: Int,
        nnz: Int,
        description: Handle,
        values: Device,
        rows: Device,
        columns: Device,
        b: Device,
        tolerance: float,
        reorder: Int,
        x: Device,
        singularity: Address,
    ) -> None:
        base = CUSPARSE.objects[description][0]
        assert isinstance(base, Description)
        _solve(s, m, nnz, base.base, (values, rows, columns), b, x, singularity)


_row("S C", "Single")
_row("D Z", "Double")
