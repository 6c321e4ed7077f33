"""A continuation of the notes: 4 x 4 elements a thread, kept in registers.

A word of shared memory that a thread has read is used for four elements instead of one: for each k it reads
four words of A's tile and four of B's, and makes 16 multiplications of them, where the rungs before made one
of two words. A block of 16 x 16 threads computes 64 x 64 elements, so global memory is read 2 n^3 / 64 times.

A thread's elements lie 16 apart, in both directions. So lanes of a row read neighbouring words of B's tile
and store neighbouring elements of C, and the two rows of threads in a warp read words of A's tile in
different banks.

Look at the loads of shared memory: there are a quarter of them. What it costs is registers, for 16 sums and 8
factors, and with them resident warps; the work that each has ready at any time more than makes up for it.
"""

from typing import Any

from warpglass.ladders.matmul.problem import square_blocks
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, LaunchShape, Rung, cuda


def register_tile(a: Any, b: Any, c: Any, n: Any) -> None:
    """Compute 4 x 4 elements of c = a b, 16 apart."""
    a_tile = cuda.shared.array((64, 16), a.dtype)
    b_tile = cuda.shared.array((16, 64), b.dtype)
    totals = cuda.local.array((4, 4), a.dtype)
    of_a = cuda.local.array(4, a.dtype)
    of_b = cuda.local.array(4, b.dtype)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    thread = y * 16 + x
    row = cuda.blockIdx.y * 64 + y
    first = cuda.blockIdx.x * 64
    column = first + x
    for i in range(4):
        for j in range(4):
            totals[i, j] = 0
    for start in range(0, n, 16):
        for i in range(4):
            inside = row + 16 * i < n and start + x < n
            a_tile[y + 16 * i, x] = a[row + 16 * i, start + x] if inside else a.dtype.type(0)
            # Four rows of 64 at a time: a row of B's tile is two warps, whose stores meet in no bank.
            down = thread // 64 + 4 * i
            across = thread % 64
            inside = start + down < n and first + across < n
            b_tile[down, across] = b[start + down, first + across] if inside else b.dtype.type(0)
        cuda.syncthreads()
        for k in range(16):
            for i in range(4):
                of_a[i] = a_tile[y + 16 * i, k]
                of_b[i] = b_tile[k, x + 16 * i]
            for i in range(4):
                for j in range(4):
                    totals[i, j] += of_a[i] * of_b[j]
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            if row + 16 * i < n and column + 16 * j < n:
                c[row + 16 * i, column + 16 * j] = totals[i, j]


def shape(case: Case, block: int) -> LaunchShape:
    """Blocks of 16 x 16 threads, each for 64 x 64 elements."""
    return square_blocks(case, 16, 64)


RUNG = Rung(
    table="matmul",
    follows="tiled_32",
    shape=shape,
    claims=(
        Claim("smsp__inst_executed_op_shared_ld.sum", "<", "tiled_32"),
        Claim("shared_bank_conflicts", "==", 0.0),
        Claim("local_load_transactions", "==", 0.0),
    ),
)
