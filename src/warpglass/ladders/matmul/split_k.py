"""The last tiles are split along k, so that all multiprocessors have a part of them.

4096 x 4096 elements are 2048 tiles of 64 x 128: an H200's 132 multiprocessors have 15 each, and 68 of them a
sixteenth, for which the others wait. Here 7 blocks compute each of these 68 tiles, a seventh of the sum each,
and a second launch adds the parts up, always in the same order: results do not depend on which block was
first. 2048 tiles then take as long as 15.6, not 16. Of 8192 x 8192 elements 8 tiles are left over, of 4097 x
4097 are 33, of which each becomes 16 parts. And matrices of few tiles fill the GPU: 1000 x 1000 elements are
128, for 528 blocks that it can hold.

The price is a second launch, and 32 KiB written and read for every part: some 10 us.

Measured on an H200: at 4096 49.4 TFLOP/s, 1.03 times pipelined and 0.96 of cuBLAS; at 8192 50.0, 0.98 of it;
at 4097 46.9, where pipelined has 44.9 and cuBLAS 44.1. At 1000 28, as cuBLAS has, where whole tiles reach 18.
"""

from warpglass.ladders.matmul.plans import product
from warpglass.ladders.plan import Plan
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Rung
from warpglass.ladders.tuned import tuned


def plan(case: Case, block: int) -> Plan:
    """For as many multiprocessors as an H200 has, unless tuned."""
    chosen = {"multiprocessors": 132, **tuned("matmul", "split_k", case.dtype, case.capability)}
    n = case.size
    return product(n, n, n, case.dtype, multiprocessors=chosen["multiprocessors"])


RUNG = Rung(table="matmul", follows="pipelined", plan=plan)
