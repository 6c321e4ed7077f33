"""Virtual cuBLAS: levels 1 to 3 of all types, batches, and what CuPy and programs use beside them."""

from __future__ import annotations

from . import batched, extensions, factorisations, level1, level2, level3, mixed  # noqa: F401  # rows by subject
from .context import CUBLAS

__all__ = ["CUBLAS"]
