"""One launch and no atomics: the last block waits for the sums of the others, and adds them in their order.

Each block stores its sum, and the last one reads them all. What tells it that a sum is there is the word
that it reads: 64 bits, of which 32 are a mark and 32 belong to the value (a double has two such words). They
arrive together, so no fence stands between the value and its mark, and no counter is asked who is last: a
fence, an atomic operation and a load are three ways to the L2 cache and back, where one is left. Only the
last block waits, and for blocks that start no later, so the grid may have any size; `grid_sync` makes all of
them wait for the slowest. The order of the additions is fixed, so two runs agree to the last bit:
`block_atomics` does not promise that. The last block clears the words again, for the next launch.

A thread has four loads of 16 bytes under way before it adds: 2048 threads of a multiprocessor make 128 KiB,
where 4.8 TB/s times 700 ns ask for 25. It adds them as a tree, and so do a warp and a block: a float32 of
2^28 goes through some hundred additions.

Prediction: n elements are read once, so the time is that of reading. Without the fence and the counter about
1 us less than with them, of 6.4 us for 4 MB.

Outcome, H200, float32: 2^28 elements in 239 us, 4.49 TB/s, where a copy moves 4.24 (CuPy 243, PyTorch 252).
2^20 in 5.5 us (CuPy 7.2, PyTorch 9.2), from cold caches in 7.2 (9.3, 11.3); with a ticket by `atomicInc` that
says who is last 6.4 and 8.0.
"""

from pathlib import Path
from typing import Any

import numpy as np

from warpglass.ladders.plan import Plan, Scratch, Step
from warpglass.ladders.problem import C_NAMES, Case
from warpglass.ladders.run import HostRun
from warpglass.ladders.rung import Claim, Rung

PACK = 16  # bytes of a load
UNROLL = 4  # loads under way in a thread
MOST_THREADS = 2**18  # of the grid: what a large GPU keeps in flight


def plan(
    n: int,
    dtype: np.dtype[Any],
    *,
    adds: np.dtype[Any] | None = None,
    result: np.dtype[Any] | None = None,
    block: int = 512,
    most_threads: int = MOST_THREADS,
) -> Plan:
    """Add the n elements of `x` in the type `adds` (dtype), and leave the sum in the one `result` of `sum`.

    `adds` has 4 or 8 bytes. x may begin anywhere. The sum of a float type is the same in every run with the
    same n, parameters and place of x between multiples of 16 bytes.
    """
    adds, result = adds or dtype, result or adds or dtype
    blocks = grid(n, dtype, block, most_threads)
    types = ", ".join(C_NAMES[one.name] for one in (dtype, adds, result))
    step = Step(
        f"last_block<{types}, {block}, {UNROLL}>",
        Path(__file__).with_suffix(".cu"),
        grid=blocks,
        block=block,
        shared=0,
        arguments=("x", "sum", "words", np.uint64(n)),
    )
    words = Scratch("words", np.dtype(np.uint64), blocks * adds.itemsize // 4, zeroed=True)
    return Plan((step,), (words,))


def grid(n: int, dtype: np.dtype[Any], block: int, most_threads: int) -> int:
    """Blocks enough for UNROLL loads a thread, or as many as there may be; one at least."""
    tile = block * UNROLL * PACK // dtype.itemsize
    return max(1, min(-(-n // tile), most_threads // block))


def additions(n: int, dtype: np.dtype[Any], block: int, most_threads: int = MOST_THREADS) -> int:
    """How many additions an element goes through at most: in its thread, in its block, in the last block."""
    blocks, width = grid(n, dtype, block, most_threads), PACK // dtype.itemsize
    tiles = -(-n // (blocks * block * UNROLL * width))
    in_thread = tiles + UNROLL + (UNROLL * width).bit_length() + 2
    return in_thread + -(-blocks // block) + 2 * 10


def ladder_plan(case: Case, block: int) -> Plan:
    """The plan for a case, whose sum has no array of its own."""
    found = plan(case.size, case.dtype, block=block)
    return Plan(found.steps, (*found.scratch, Scratch("sum", case.dtype, 1)))


def program(run: HostRun) -> None:
    """Launch once; the sum is whole."""
    run.follow_plan()
    run.keep("sum", run.to_host(run.scratch("sum", 1, run.case.dtype))[0])


RUNG = Rung(
    follows="grid_sync",
    table="beyond",
    plan=ladder_plan,
    program=program,
    depth=lambda case, block: additions(case.size, case.dtype, block),
    claims=(
        Claim("smsp__inst_executed.sum", "<", "grid_sync"),
        Claim("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", ">", 99.0),
    ),
)
