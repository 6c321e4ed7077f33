"""Virtual cuSPARSE: generic products and conversions, and older functions that CuPy uses, on SciPy."""

from __future__ import annotations

from . import (  # noqa: F401  # rows by subject
    context,
    conversions,
    descriptors,
    generic,
    incomplete,
    legacy,
    sampled,
    tridiagonal,
)
from .library import CUSPARSE

__all__ = ["CUSPARSE"]
