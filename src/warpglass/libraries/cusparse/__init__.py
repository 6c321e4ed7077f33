"""Virtual cuSPARSE: generic products and conversions, and older functions that CuPy uses, on SciPy."""

from __future__ import annotations

from . import context, conversions, descriptors, generic, legacy, tridiagonal  # noqa: F401  # rows by subject
from .library import CUSPARSE

__all__ = ["CUSPARSE"]
