"""A continuation of the notes: four elements with one instruction, from global and from shared memory.

A thread's four columns now lie side by side, and it reads A's tile four words along k at a time, so that each
of its loads of shared memory brings 16 bytes: for four steps of k it needs 8 loads instead of 32. Global
memory is read and written 16 bytes a thread as well, where rows begin at multiples of 16 bytes, which they do
if n is a multiple of four; other matrices go element by element.

Look at the number of instructions: the multiplications are what is left. In C++ only: Python kernels have no
vector loads.
"""

from __future__ import annotations

from pathlib import Path

from warpglass.ladders.matmul.problem import all_products
from warpglass.ladders.matmul.register_tile import shape
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Claim, Kernel, Rung


def program(run: Run) -> None:
    """Launch a thread for every 16 elements."""
    run.launch("vector_loads", shape(run.case, run.block), "a", "b", "c", "n")


RUNG = Rung(
    name="vector_loads",
    table="matmul",
    explanation=__doc__ or "",
    follows="register_tile",
    kernels=(
        Kernel(
            name="vector_loads",
            file=Path(__file__).with_suffix(".cu"),
            cuda="vector_loads<{type}>",
        ),
    ),
    program=program,
    shape=shape,
    depth=all_products,
    claims=(
        Claim("smsp__inst_executed_op_shared_ld.sum", "<", "register_tile"),
        Claim("shared_bank_conflicts", "==", 0.0),
    ),
)
