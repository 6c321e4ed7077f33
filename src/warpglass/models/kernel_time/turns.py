"""Kernels whose parts take turns: barriers keep the phases of a block apart, and too few warps fill them.

Belongs here: when that is so, and how long it takes. A scheduler with many warps runs one while another
waits, so that times overlap. With two at most, between barriers that both come to, there is nobody: the path
of a warp, the instructions of the other one, and the passes and bytes of memory come one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping

from .load import Load
from .rates import Rates

_ALONE = 2  # warps of a scheduler that do not hide each other's waits
_SCHEDULERS = 4
# Limiters of which the longest counts: they are busy at the same time, or are parts of each other.
_TOGETHER = (
    ("shared", "access", "tags"),
    ("l2", "dram"),
    ("latency", "barriers"),
    ("atomics",),
    ("blocks",),
)
_INSTRUCTIONS = ("issue", "fp32", "integer", "multiply", "shared units", "fp64", "fp16", "special", "tensor")


def in_turns(load: Load, rates: Rates, limits: Mapping[str, float]) -> float:
    """Seconds of all parts one after the other; 0 where they overlap."""
    held = min(load.resident, -(-load.blocks // rates.multiprocessors)) * load.warps
    if not load.barriers or held > _ALONE * _SCHEDULERS:
        return 0.0
    others = max(0.0, 1 - _SCHEDULERS / held)  # a warp's own instructions are on its path
    instructions = others * max((limits.get(name, 0.0) for name in _INSTRUCTIONS), default=0.0)
    return instructions + sum(max(limits.get(name, 0.0) for name in names) for names in _TOGETHER)
