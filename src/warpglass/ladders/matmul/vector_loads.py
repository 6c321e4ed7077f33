"""A continuation of the notes: four elements with one instruction, from global and from shared memory.

A thread's four columns now lie side by side, and it reads A's tile four words along k at a time, so that each
of its loads of shared memory brings 16 bytes: for four steps of k it needs 8 loads instead of 32. Global
memory is read and written 16 bytes a thread as well, where rows begin at multiples of 16 bytes, which they do
if n is a multiple of four; other matrices go element by element.

Look at the number of instructions: the multiplications are what is left. In C++ only: Python kernels have no
vector loads.
"""

from warpglass.ladders.matmul.register_tile import shape
from warpglass.ladders.rung import Claim, Rung

RUNG = Rung(
    table="matmul",
    follows="register_tile",
    shape=shape,
    claims=(
        Claim("smsp__inst_executed_op_shared_ld.sum", "<", "register_tile"),
        Claim("shared_bank_conflicts", "==", 0.0),
    ),
)
