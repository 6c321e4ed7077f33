"""Virtual cuSOLVER: dense factorisations, solutions, singular values and eigenvalues; sparse solutions."""

from __future__ import annotations

from . import (  # noqa: F401  # rows by subject
    context,
    eigenvalues,
    generic,
    linear_systems,
    orthogonal,
    refinement,
    singular_values,
    sparse,
    sparse_orders,
    sparse_steps,
)
from .library import CUSOLVER

__all__ = ["CUSOLVER"]
