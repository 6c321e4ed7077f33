"""Floating-point operations by type, of threads whose predicate held."""

from __future__ import annotations

from ...records.profile import Subject
from .table import Measured, add

_KINDS = {"add": ("add", "sub"), "mul": ("mul",), "fma": ("fma", "mad")}
_PRECISIONS = {"f": ("fp32", "single"), "d": ("fp64", "double"), "h": ("fp16", "half")}


def _threads(m: Measured, unit: str, opcodes: tuple[str, ...]) -> float:
    return sum(
        tally.threads
        for tally in m.tallies
        if tally.step.match.row.unit == unit and tally.step.instruction.opcode in opcodes
    )


for _letter, (_unit, _what) in _PRECISIONS.items():
    for _name, _opcodes in _KINDS.items():
        add(
            f"smsp__sass_thread_inst_executed_op_{_letter}{_name}_pred_on.sum",
            f"{_name} instructions in {_what} precision, counted by thread",
            Subject.FLOPS,
            "inst",
            lambda m, unit=_unit, opcodes=_opcodes: _threads(m, unit, opcodes),
            machine=True,
        )
