"""A radix sort in one block: the keys stay with the block, and every pass costs the same, whatever the order.

A pass finds the place of each key by one digit of eight bits. Every warp counts its digits, a scan over the
bins says where each begins, and then each warp goes through its keys, 32 at a time: lanes with the same digit
find each other by eight ballots, one a bit, take the next places in their bin in lane order, and move the
bin's counter on. Keys with the same digit keep their order, so after the highest digit all are sorted.

Prediction: 4-byte keys take 4 passes of 5 barriers where the bitonic network of 1024 keys takes 55 steps of
one; a pass moves each key through shared memory once, so 8 accesses a key in place of 110. A pass whose digit
is the same in all keys is left out. (C++ only: the ballots are an inline assembly of three instructions.)

Look at the barriers and at the accesses to shared memory.
"""

from pathlib import Path

import numpy as np

from warpglass.ladders.plan import Plan, Step
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, Rung
from warpglass.ladders.sort.radix import Request, shared_bytes

# Threads and keys a thread, of blocks for more and more keys.
_SIZES = ((256, 2), (256, 8), (512, 12))
LARGEST = _SIZES[-1][0] * _SIZES[-1][1]


def plan(request: Request) -> Plan:
    """One launch, with a block for every row of at most LARGEST keys."""
    threads, items = next(one for one in _SIZES if one[0] * one[1] >= request.size)
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
    """The launch for a bench; the block has as many threads as suit the keys."""
    return plan(Request(case.size, case.dtype))


RUNG = Rung(
    table="one_block",
    follows="bitonic_block",
    plan=plan_case,
    claims=(
        Claim("smsp__inst_executed.sum", "<", "bitonic_block"),
        Claim("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "<", "bitonic_block"),
    ),
)
