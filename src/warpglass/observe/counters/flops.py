"""Floating-point operations by type, of threads whose predicate held."""

from __future__ import annotations

from functools import partial

from ...records.profile import Subject
from .table import Measured, declare

_KINDS = {"add": ("add", "sub"), "mul": ("mul",), "fma": ("fma", "mad")}
_PRECISIONS = {"f": ("fp32", "single"), "d": ("fp64", "double"), "h": ("fp16", "half")}


def _threads(m: Measured, unit: str, opcodes: tuple[str, ...]) -> float:
    return sum(
        tally.threads
        for tally in m.tallies
        if tally.step.match.row.unit == unit and tally.step.instruction.opcode in opcodes
    )


declare(
    Subject.FLOPS,
    {
        f"smsp__sass_thread_inst_executed_op_{letter}{name}_pred_on.sum": (
            f"{name} instructions in {what} precision, counted by thread",
            "inst",
            partial(_threads, unit=unit, opcodes=opcodes),
        )
        for letter, (unit, what) in _PRECISIONS.items()
        for name, opcodes in _KINDS.items()
    },
    machine=True,
)
