"""What the tensor cores have to do, for the model of kernel times: multiply-adds, by the PTX that asks.

Belongs here: shapes and element types of mma and wmma. A machine instruction may be a part of one, or more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .counting import Tally

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
# How long one takes of the time of 16-bit elements, by the type of the factors.
_TIMES = {
    **{"tf32": 2.0, "f16": 1.0, "bf16": 1.0, "s8": 0.5, "u8": 0.5, "e4m3": 0.5, "e5m2": 0.5},
    **{"s4": 0.25, "u4": 0.25, "b1": 0.0625},
}
# Multiply-adds of doubles that take as long as one instruction of a warp on FP64 units: two for each of them,
# but one for the small shape from 9.0 on (an H200 does 64 a clock and multiprocessor of it).
_DOUBLES, _SMALL_DOUBLES, _SMALL = 64.0, 32.0, "m8n8k4"


def tensor_work(tallies: Sequence[Tally], capability: tuple[int, int]) -> dict[str, float]:
    """Multiply-adds of 16-bit elements that take as long, as "tensor"; of doubles, warps' instructions on the
    units of FP64 that do, as "fp64".
    """
    found: dict[str, float] = {}
    for tally in tallies:
        instruction = tally.step.instruction
        shape = next(filter(None, map(_SHAPE.fullmatch, instruction.modifiers)), None)
        if shape is None or "mma" not in (instruction.opcode, *instruction.modifiers):
            continue
        m, n, k = map(int, shape.groups())
        products = float(tally.warps * m * n * k)
        times = [_TIMES[one] for one in instruction.modifiers if one in _TIMES]
        if "f64" in instruction.modifiers:
            slow = capability >= (9, 0) and _SMALL in instruction.modifiers
            found["fp64"] = found.get("fp64", 0.0) + products / (_SMALL_DOUBLES if slow else _DOUBLES)
        else:  # wmma does not name halves
            found["tensor"] = found.get("tensor", 0.0) + products * (times[0] if times else 1.0)
    return found
