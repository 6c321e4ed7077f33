"""What follows from the launch configuration, the device model and the compiled kernel alone."""

from __future__ import annotations

from functools import partial

from ...records.profile import Subject
from .table import Measured, declare

_TEXTS = {
    "launch__grid_size": ("blocks", ""),
    "launch__block_size": ("threads per block", ""),
    "launch__thread_count": ("threads", "thread"),
    "launch__registers_per_thread": ("registers per thread", "register/thread"),
    "launch__shared_mem_per_block_static": ("static shared memory per block, bytes", "byte/block"),
    "launch__shared_mem_per_block_dynamic": ("dynamic shared memory per block, bytes", "byte/block"),
    "launch__occupancy_limit_blocks": ("blocks per multiprocessor that its block slots allow", "block"),
    "launch__occupancy_limit_warps": ("blocks per multiprocessor that its warp slots allow", "block"),
    "launch__occupancy_limit_registers": ("blocks per multiprocessor that its registers allow", "block"),
    "launch__occupancy_limit_shared_mem": (
        "blocks per multiprocessor that its shared memory allows",
        "block",
    ),
    "launch__occupancy_limit_barriers": ("blocks per multiprocessor that its barriers allow", "block"),
    "launch__waves_per_multiprocessor": ("times that the grid fills the device", ""),
    "sm__maximum_warps_avg_per_active_cycle": ("warps that a multiprocessor can hold of this kernel", "warp"),
    "sm__maximum_warps_per_active_cycle_pct": (
        "theoretical occupancy: those warps, of the most, in percent",
        "%",
    ),
    "smsp__warps_launched.sum": ("warps launched", "warp"),
}


def _launched(m: Measured, name: str) -> float:
    return m.launch.get(name, 0.0)


declare(
    Subject.LAUNCH,
    {name: (*words, partial(_launched, name=name)) for name, words in _TEXTS.items()},
)
