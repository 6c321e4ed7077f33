"""The last round of tiles is split along k, so that all multiprocessors have a part of it.

An H200 computes 528 tiles of 64 x 128 at a time, four on each of 132 multiprocessors. 4096 x 4096 elements
are 2048 tiles, 3.88 rounds; one row and one column more make them 2145, 4.06 rounds, and the fifth takes as
long as the others for 33 tiles. Here 16 blocks compute each of these 33, a sixteenth of the sum each, and a
second launch adds the parts up, always in the same order: results do not depend on which block was first.

The same helps matrices of few tiles: 1000 x 1000 elements are 128, for 528 places.

The price is a second launch, and 32 KiB written and read for every part.

Measured on an H200: OUTCOME
"""

from warpglass.ladders.matmul.plans import product
from warpglass.ladders.plan import Plan
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Rung
from warpglass.ladders.tuned import tuned


def plan(case: Case, block: int) -> Plan:
    """For as many multiprocessors as an H200 has, unless tuned."""
    chosen = {"multiprocessors": 132, **tuned("matmul", "split_k", case.dtype, case.capability)}
    return product(case.size, case.size, case.size, case.dtype, **chosen)


RUNG = Rung(table="matmul", follows="pipelined", plan=plan)
