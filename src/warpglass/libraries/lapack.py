"""LAPACK, which SciPy brings: an extra of the package, asked for when a program needs it first."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from .frame import Failed, Session
from .memory import Array

_PREFIX = {"f": "s", "d": "d", "F": "c", "D": "z"}


def scipy(s: Session, module: str) -> Any:
    """A module of SciPy; raises Failed with what to install where there is none."""
    try:
        return import_module(f"scipy.{module}")
    except ImportError:
        text = f"virtual {s.library.name} needs SciPy for this: pip install 'warpglass[libraries]'"
        raise Failed(s.library.statuses.not_supported, text) from None


def lapack(s: Session, name: str, dtype: Any = None) -> Any:
    """The LAPACK function of an element type: `getrf`, `potrf`."""
    prefix = _PREFIX[np.dtype(dtype or s.element).char]
    return getattr(scipy(s, "linalg.lapack"), prefix + name)


def factor(s: Session, matrix: Array, *, pivot: bool = True) -> tuple[Array, int]:
    """LU in place of a matrix: the pivots, from 1 on, and the first zero on the diagonal, 0 for none."""
    if 0 in matrix.shape:
        return np.zeros(0, "i4"), 0
    if pivot:
        found, pivots, info = lapack(s, "getrf")(matrix)
        matrix[...] = found
        return pivots + 1, info
    info = 0
    for k in range(min(matrix.shape)):
        if matrix[k, k] == 0:
            info = info or k + 1
            continue
        matrix[k + 1 :, k] /= matrix[k, k]
        matrix[k + 1 :, k + 1 :] -= np.outer(matrix[k + 1 :, k], matrix[k, k + 1 :])
    return np.arange(1, min(matrix.shape) + 1, dtype="i4"), info


def solve_factored(s: Session, factors: Array, pivots: Array, right: Array, how: int) -> Array:
    """The solution of op(A) X = B from the factors of A and pivots from 1 on."""
    if 0 in right.shape:
        return right
    return lapack(s, "getrs")(factors, pivots - 1, right, trans=how)[0]
