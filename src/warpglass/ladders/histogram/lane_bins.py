"""A copy of the counters for every lane: no two lanes of a warp want the same bank, whatever the keys are.

Lane l counts bin b in the word 32 b + l, which lies in bank l. Random keys no longer meet in a bank, equal
keys no longer in a word: the time does not depend on the keys. The block's warps share the copies; 256
counters for 32 lanes take 32 KiB. Loads bring 16 bytes, and a key moves from its place in a word of them to
the address of its counter by a shift and a mask. The block that draws the last ticket hands the counts over
and clears what was added up, so that one launch is all, and counts need not be zeros before.

Prediction: a key costs one addition in shared memory. If a multiprocessor makes 16 a clock, 2^28 bytes on 132
of them at 1.98 GHz take 64 microseconds, about what reading them takes.

Outcome, H200: 2^28 bytes in 70 us if they are random, in 69 if all are the same; adding them up as float32,
which only reads, takes CuPy 68 in the same run. With one copy for all lanes it was 122 and 69. Two keys a
time, as one of 256 * 257 / 2 pairs, took 82: pairs meet in banks again.
"""

from pathlib import Path
from typing import Any

import numpy as np

from warpglass.ladders.histogram.problem import BINS
from warpglass.ladders.plan import Plan, Scratch, Step
from warpglass.ladders.problem import C_NAMES, Case
from warpglass.ladders.rung import Claim, Rung

PACK = 16  # bytes of a load
UNROLL = 4  # loads under way in a thread
SHARED = 32 * 1024  # bytes of counters that every GPU gives a block, and some blocks at a time
MOST_SHARED = 48 * 1024  # that every GPU gives a block without being asked
MOST_THREADS = 132 * 2048  # of the grid


def plan(
    n: int,
    dtype: np.dtype[Any],
    bins: int,
    *,
    counter: np.dtype[Any] | None = None,
    block: int = 1024,
    most_threads: int = MOST_THREADS,
) -> Plan:
    """Count how many of the n keys of `x` are b, for each b from 0 to bins - 1, in `counts`.

    A `counter` has 32 or 64 bits (uint32). Other keys are not counted. `counts` is overwritten; x may begin
    anywhere.
    """
    counter = counter or np.dtype(np.uint32)
    copies = copies_of(bins)
    blocks = max(1, min(-(-n * dtype.itemsize // (block * UNROLL * PACK)), most_threads // block))
    inside = dtype.kind == "u" and np.iinfo(dtype).max < bins
    types = ", ".join(C_NAMES[one.name] for one in (dtype, counter))
    step = Step(
        f"lane_bins<{types}, {block}, {UNROLL}, {copies}, {str(inside).lower()}>",
        Path(__file__).with_suffix(".cu"),
        grid=blocks,
        block=block,
        shared=4 * bins * copies,
        arguments=("x", "counts", "totals", "ticket", np.uint64(n), np.uint32(bins)),
    )
    scratch = (
        Scratch("totals", counter, bins, zeroed=True),
        Scratch("ticket", np.dtype(np.uint32), 1, zeroed=True),
    )
    return Plan((step,), scratch)


def copies_of(bins: int) -> int:
    """How many copies of the counters a block has: a power of two up to 32; 0 where not even one has room."""
    if 4 * bins > MOST_SHARED:
        return 0
    return 1 << min(5, max(1, SHARED // (4 * bins)).bit_length() - 1)


def ladder_plan(case: Case, block: int) -> Plan:
    """The plan for a case."""
    return plan(case.size, case.dtype, BINS[case.question.table], block=block)


RUNG = Rung(
    table="bytes",
    follows="shared_vectors",
    plan=ladder_plan,
    claims=(Claim("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "<", "shared_vectors"),),
)
