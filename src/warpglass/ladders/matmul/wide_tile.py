"""A continuation of the notes: 8 x 8 elements a thread, 128 x 128 a block.

Four loads of 16 bytes from shared memory now serve 64 multiplications, where eight served 64 before, and
global memory is read 2 n^3 / 128 times. To get there A's tile is stored turned around, k by k, so that a
thread's rows lie side by side as its columns do; four unused elements a row keep the stores apart that turn
it. A thread's elements are two groups of four rows and two of four columns, 64 apart, which keeps lanes on
neighbouring words.

What it costs: 64 sums in registers, 16 factors beside them, and one block of 256 threads for 128 x 128
elements, so that small matrices leave multiprocessors idle. In C++ only: Python kernels have no vector loads.

Look at the instructions: of those in the inner loop 16 of 17 multiply.
"""

from warpglass.ladders.matmul.problem import square_blocks
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, LaunchShape, Rung


def shape(case: Case, block: int) -> LaunchShape:
    """Blocks of 16 x 16 threads, each for 128 x 128 elements."""
    return square_blocks(case, 16, 128)


RUNG = Rung(
    table="matmul",
    follows="vector_loads",
    shape=shape,
    claims=(
        Claim("smsp__inst_executed_op_shared_ld.sum", "<", "vector_loads"),
        Claim("shared_bank_conflicts", "==", 0.0),
        Claim("local_load_transactions", "==", 0.0),
    ),
)
