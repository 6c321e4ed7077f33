"""Virtual cuBLAS: levels 1 to 3 of all types, batches, and what CuPy and programs use beside them."""

from __future__ import annotations

from . import (  # noqa: F401  # rows by subject
    batched,
    extensions,
    factorisations,
    level1,
    level2,
    level3,
    mixed,
    several_devices,
)
from .context import CUBLAS

__all__ = ["CUBLAS"]
