"""Instructions: how many warps issued them, with how many threads, by class.

Nsight Compute counts machine instructions, of which ptxas makes more or fewer than there are in PTX; without
the machine code these numbers are those of the PTX.
"""

from __future__ import annotations

from ...records.profile import Subject
from .table import Measured, add, counter, ratio


@counter("smsp__inst_executed.sum", "warp instructions executed", Subject.INSTRUCTIONS, "inst", machine=True)
def inst_executed(m: Measured) -> float:
    """Every instruction that a warp came to, whatever its predicate."""
    return sum(tally.issued for tally in m.tallies)


@counter(
    "smsp__thread_inst_executed.sum",
    "thread instructions executed, whatever their predicate",
    Subject.INSTRUCTIONS,
    "inst",
    machine=True,
)
def thread_inst_executed(m: Measured) -> float:
    """Lanes at every instruction that a warp came to."""
    return sum(tally.active for tally in m.tallies)


@counter(
    "smsp__thread_inst_executed_pred_on.sum",
    "thread instructions whose predicate held",
    Subject.INSTRUCTIONS,
    "inst",
    machine=True,
)
def thread_inst_executed_pred_on(m: Measured) -> float:
    """Lanes that acted."""
    return sum(tally.threads for tally in m.tallies)


@counter(
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "active threads per warp instruction",
    Subject.INSTRUCTIONS,
    machine=True,
)
def threads_per_inst(m: Measured) -> float:
    """32 without divergence and partial warps."""
    return ratio(thread_inst_executed(m), inst_executed(m))


@counter(
    "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
    "active threads whose predicate held, per warp instruction",
    Subject.INSTRUCTIONS,
    machine=True,
)
def acting_threads_per_inst(m: Measured) -> float:
    """As above, without the lanes whose predicate did not hold."""
    return ratio(thread_inst_executed_pred_on(m), inst_executed(m))


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


def _threads_of(m: Measured, unit: str) -> float:
    return sum(tally.threads for tally in m.tallies if tally.step.match.row.unit == unit)


for _unit, _what in _CLASSES.items():
    add(
        f"smsp__sass_thread_inst_executed_op_{_unit}_pred_on.sum",
        f"thread instructions of {_what}",
        Subject.INSTRUCTIONS,
        "inst",
        lambda m, unit=_unit: _threads_of(m, unit),
        machine=True,
    )
