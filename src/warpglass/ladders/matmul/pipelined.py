"""Tiles arrive while others are multiplied: cp.async copies them past the registers, two steps ahead.

In wide_tile a block loads a tile, waits, multiplies, waits: while it loads, nothing multiplies. Here shared
memory has three stages of 16 k, and the copies for one are issued while the one two before is multiplied. A
thread still computes 8 x 8 elements, and reads the factors of the next k while it multiplies those of this
one. Blocks have 128 threads for 64 x 128 elements, so that four of them are on a multiprocessor: when one
waits at its barrier, three multiply.

Counted first: for each k a thread multiplies 64 times and loads 4 times 16 bytes; its 24 copies, with their
addresses, and a barrier come once in 16 k. So 87 % of the instructions multiply, 58 of an H200's 67 TFLOP/s,
if registers could always be read in time; they have two banks, and products whose three operands lie in one
take longer. Down one column of the elements and up the next, each product shares a factor with the one before
it, which then needs no bank. A block reads 192 k elements for 64 x 128 k products: at 50 TFLOP/s that is 2.3
TB/s, half of what the second-level cache has. Blocks take tiles eight rows at a time, so those that run
together read the same rows and columns, and little comes from memory.

A's tile is stored turned around, element by element, by the copies themselves. So rows need not begin at
multiples of 16 bytes, and odd sizes take the same way as even ones. What a broken last step lacks lies before
the first element of a sum, as zeros; a tile at the lower or right edge is moved up or left until it is whole,
and stores what is its own.

Measured on an H200 at 4096: 47.9 TFLOP/s, 1.57 times wide_tile and 0.94 of cuBLAS; at 8192 49.5, 0.98 to 1.00
of it. Odd sizes: 47.5 at 4095. Instructions, caches and clock (1980 MHz) would allow 58: what is left are
registers in one bank, and steps of 8 instead of 16 k (44) or 16 x 8 elements a thread (44 to 47) do not help.

Look at the lanes: those of a pair share their row or column, which lets loads of 16 bytes share wavefronts.
"""

from warpglass.ladders.matmul.plans import product
from warpglass.ladders.rung import Claim, Rung

RUNG = Rung(
    table="matmul",
    follows="wide_tile",
    plan=lambda case, block: product(case.size, case.size, case.size, case.dtype),
    claims=(
        Claim("smsp__inst_executed_op_shared_ld.sum", "<", "vector_loads"),
        Claim("shared_bank_conflicts", "==", 0.0),
        Claim("local_load_transactions", "==", 0.0),
    ),
)
