"""Tensor cores multiply doubles too: mma.sync of 16 x 8 by 8 x 8, rounded as fused multiply-adds are.

An instruction makes 1024 products, and nothing is lost: its sums are chains of fused multiply-adds, so the
error bound is that of ordinary arithmetic. A warp computes 32 x 32 elements, 32 doubles a lane; for each 8 k
it loads 8 doubles of A and 8 of B a lane and has 8 instructions. Tiles arrive as in pipelined, 8 bytes a
copy, whatever the sizes and addresses; rows in shared memory lie four doubles further apart, so that the four
rows of four neighbours that half a warp loads are in different banks. Tiles are split along k as in split_k.

Counted first: the data sheet has 67 TFLOP/s for doubles by tensor cores and 34 without: half of the time. A
block reads (64 + 64) k doubles for 64 x 64 k products, 3.4 TB/s from the second-level cache at 54 TFLOP/s.

Measured on an H200: 54.2 TFLOP/s at 4096, 0.91 of cuBLAS, where split_k has 24.5; 41 at 1000 (19); 51 at
4097, where cuBLAS has 39. Tiles of 128 x 128 are as fast at 4096 and a fifth slower at 1000; instructions of
4 k a tenth slower in small tiles; those of 16 k leave too few registers (23).
"""

from warpglass.ladders.matmul.plans import fp64_tensor_product
from warpglass.ladders.plan import Plan
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Rung


def plan(case: Case, block: int) -> Plan:
    """For as many multiprocessors as an H200 has."""
    return fp64_tensor_product(case.size, case.size, case.size, multiprocessors=132)


RUNG = Rung(table="fp64", plan=plan)
