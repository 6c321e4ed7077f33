"""Time, and how busy the GPU is: there only where the model of kernel times or a GPU says it."""

from __future__ import annotations

from ...records.profile import Subject
from .table import declare

_TEXTS = {
    "gpu__time_duration.sum": ("time of the kernel without its launch, nanoseconds", "ns"),
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": (
        "how busy the busiest part of the multiprocessors is",
        "%",
    ),
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": (
        "how busy DRAM is, of its published bandwidth",
        "%",
    ),
    "sm__warps_active.avg.pct_of_peak_sustained_active": (
        "warps that a busy multiprocessor holds, of the most",
        "%",
    ),
    "sm__inst_executed.avg.per_cycle_active": (
        "instructions of warps per clock of a busy multiprocessor",
        "inst/cycle",
    ),
}
declare(Subject.TIME, {name: (*words, None) for name, words in _TEXTS.items()}, machine=True)
