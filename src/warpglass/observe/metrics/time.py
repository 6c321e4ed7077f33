"""Metrics of time; there only where the model of kernel times or a GPU says it."""

from __future__ import annotations

from .table import metric

metric("gpu_time", "ns", "time of the kernel without its launch, nanoseconds", "gpu__time_duration.sum")
metric(
    "achieved_occupancy",
    "%",
    "warps that a busy multiprocessor holds on average, of the most",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
)
metric(
    "ipc",
    "",
    "instructions of warps per clock of a busy multiprocessor",
    "sm__inst_executed.avg.per_cycle_active",
)
metric(
    "sm_utilization",
    "%",
    "how busy the busiest part of the multiprocessors is",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
)
metric(
    "dram_utilization",
    "%",
    "how busy DRAM is, of its published bandwidth",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
)
