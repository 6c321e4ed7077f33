"""Instructions: how many warps issued them, with how many threads, by class.

Nsight Compute counts machine instructions, of which ptxas makes more or fewer than there are in PTX; without
the machine code these numbers are those of the PTX.
"""

from __future__ import annotations

from functools import partial

from ...records.profile import Subject
from .table import Measured, declare, ratio

# The classes of Nsight Compute, and the units of the instruction table (isa/) that belong to each.
_CLASSES = {
    "integer": "integer arithmetic",
    "fp16": "half-precision arithmetic",
    "fp32": "single-precision arithmetic",
    "fp64": "double-precision arithmetic",
    "control": "control flow",
    "conversion": "conversions between types",
    "memory": "loads, stores and atomics",
    "inter_thread_communication": "exchange within a warp",
    "misc": "anything else",
}


def _issued(m: Measured) -> float:
    """Every instruction that a warp came to, whatever its predicate."""
    return sum(tally.issued for tally in m.tallies)


def _active(m: Measured) -> float:
    """Lanes at every instruction that a warp came to."""
    return sum(tally.active for tally in m.tallies)


def _acting(m: Measured) -> float:
    """Those whose predicate held."""
    return sum(tally.threads for tally in m.tallies)


def _acting_of(m: Measured, unit: str) -> float:
    return sum(tally.threads for tally in m.tallies if tally.step.match.row.unit == unit)


declare(
    Subject.INSTRUCTIONS,
    {
        "smsp__inst_executed.sum": ("warp instructions executed", "inst", _issued),
        "smsp__thread_inst_executed.sum": (
            "thread instructions executed, whatever their predicate",
            "inst",
            _active,
        ),
        "smsp__thread_inst_executed_pred_on.sum": (
            "thread instructions whose predicate held",
            "inst",
            _acting,
        ),
        "smsp__thread_inst_executed_per_inst_executed.ratio": (
            "active threads per warp instruction",  # 32 without divergence and partial warps
            "",
            lambda m: ratio(_active(m), _issued(m)),
        ),
        "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio": (
            "active threads whose predicate held, per warp instruction",
            "",
            lambda m: ratio(_acting(m), _issued(m)),
        ),
        **{
            f"smsp__sass_thread_inst_executed_op_{unit}_pred_on.sum": (
                f"thread instructions of {what}",
                "inst",
                partial(_acting_of, unit=unit),
            )
            for unit, what in _CLASSES.items()
        },
    },
    machine=True,
)
