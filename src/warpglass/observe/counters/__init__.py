"""Counters under Nsight Compute's names: one subject a file; `COUNTERS` has them all."""

from __future__ import annotations

from . import (  # noqa: F401  # importing one declares its counters
    branches,
    caches,
    flops,
    global_memory,
    instructions,
    launch,
    local_memory,
    shared_memory,
    time,
)
from .table import COUNTERS, EXACT, MEASURED, MODELLED, PTX_LEVEL, Counter, Measured

__all__ = ["COUNTERS", "EXACT", "MEASURED", "MODELLED", "PTX_LEVEL", "Counter", "Measured"]
