"""Metrics under nvprof's names: one subject a file; `METRICS` has them all."""

from __future__ import annotations

from . import caches, execution, memory, time
from .table import METRICS, Metric

__all__ = ["METRICS", "Metric", "caches", "execution", "memory", "time"]
