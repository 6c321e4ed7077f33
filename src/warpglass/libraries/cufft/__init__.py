"""Virtual cuFFT: plans of 1 to 3 dimensions, batches and advanced layouts, of all types, in place or not."""

from __future__ import annotations

from . import callbacks, plans, transforms  # noqa: F401  # rows by subject
from .library import CUFFT

__all__ = ["CUFFT"]
