"""Kernels whose parts take turns: barriers keep the phases of a block apart, and too few warps fill them.

Belongs here: when that is so, and how long it takes. A scheduler with many warps runs one while another
waits, so that times overlap. With two at most, between barriers that both come to, they want the same at the
same time: behind the path of a warp come the passes of shared memory, which all warps ask for at once, and
those instructions of the other warp for which the first one's waits for its own arithmetic leave no room.
"""

from __future__ import annotations

from collections.abc import Mapping

from .load import Load
from .rates import Rates

_ALONE = 2  # warps of a scheduler that do not hide each other's waits
_SCHEDULERS = 4
_PASSES = 0.85  # of the passes, a part is on the path
_ACCESSES = ("shared", "access", "tags")
_INSTRUCTIONS = ("issue", "fp32", "integer", "multiply", "shared units", "fp64", "fp16", "special", "tensor")


def in_turns(load: Load, rates: Rates, limits: Mapping[str, float]) -> dict[str, float]:
    """The limits of a launch whose path has taken in what comes in turns; as they are where all overlap."""
    held = min(load.resident, -(-load.blocks // rates.multiprocessors)) * load.warps
    if not load.barriers or held > _ALONE * _SCHEDULERS:
        return dict(limits)
    path = limits.get("latency", 0.0)
    others = max(0.0, 1 - _SCHEDULERS / held)  # a warp's own instructions are on its path
    instructions = others * max(limits.get(name, 0.0) for name in _INSTRUCTIONS)
    gaps = path * load.path_gaps / load.path_cycles if load.path_cycles else 0.0
    passes = _PASSES * max(limits.get(name, 0.0) for name in _ACCESSES)
    apart = {name: time for name, time in limits.items() if name not in (*_INSTRUCTIONS, *_ACCESSES)}
    return {**apart, "latency": path + passes + max(0.0, instructions - gaps)}
