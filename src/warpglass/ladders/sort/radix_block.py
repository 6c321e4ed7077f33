"""A radix sort in one block: the keys stay with the block, and every pass costs the same, whatever the order.

A pass finds the place of each key by one digit of eight bits. Every warp counts its digits, a scan over the
bins says where each begins, and then each warp goes through its keys, 32 at a time: lanes with the same digit
find each other by eight ballots, one a bit, take the next places in their bin in lane order, and move the
bin's counter on. Keys with the same digit keep their order, so after the highest digit all are sorted.

Prediction: 2048 keys of 4 bytes take 4 passes of 5 barriers, where the bitonic network takes 66 steps of
one; a pass has some 65 instructions a key, so 260 where 33 comparisons a key of 20 instructions make 660.
The price is a tile of fixed size: fewer keys take as long. A pass whose digit is the same in all keys is left
out.

Outcome: 2.5 times fewer instructions for 2048 keys, 3.3 times fewer wavefronts of shared memory; on an H200
12 us, launch included, where CUB's sort takes 16; 6144 keys, in a block of 512 threads, 19 us where CUB's
takes 54. (C++ only: the ballots are an inline assembly.)

Look at the conflicts of banks: what random keys leave of them.
"""

from pathlib import Path

import numpy as np

from warpglass.ladders.plan import Plan, Step
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, Rung
from warpglass.ladders.sort.radix import Request, shared_bytes


def plan(request: Request, threads: int = 256, items: int = 8) -> Plan:
    """One launch, with a block for every row of at most `threads` * `items` keys."""
    return Plan(
        (
            Step(
                f"sort_{request.what}<{request.types}, {threads}, {items}>",
                Path(__file__).with_suffix(".cu"),
                request.rows,
                threads,
                shared_bytes(threads, items, request.dtype.itemsize + request.value_bytes(4)),
                (*request.ends, np.uint32(request.size)),
            ),
        )
    )


def plan_case(case: Case, block: int) -> Plan:
    """The launch for a bench; the block has as many threads as suit 2048 keys."""
    return plan(Request(case.size, case.dtype))


RUNG = Rung(
    table="one_block",
    follows="bitonic_block",
    plan=plan_case,
    claims=(Claim("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "<", "bitonic_block"),),
)
