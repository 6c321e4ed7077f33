"""One launch, 16 bytes a load: the last block waits for the sums of the others and adds them in their order.

The reduction ladder's `last_block` with two arrays. A thread loads two packs of 16 bytes of each before it
multiplies; what it adds stays a tree of few levels. The blocks' sums travel to the last block in words of 64
bits that hold a mark beside the value, so that neither fence nor counter is needed: nothing is left for the
host, and two runs agree to the last bit. Packs begin at multiples of 16 bytes in both arrays at once: of
arrays that begin at different places it takes single elements.

Prediction: 2 n elements are read once, 8 bytes for two operations of float32, so the time is that of reading.
The 132 blocks of the rungs before, which are the notes', have 132 * 256 loads of 4 bytes under way in each
array: 0.3 MB, where 4.8 TB/s times 700 ns ask for 3.4.

Outcome, H200, float32: 2^28 elements in 474 us, 4.53 TB/s, where a copy moves 4.24 (PyTorch, which is cuBLAS,
491, CuPy 1517). 2^22 from cold caches: 15.9 us with plain loads, 14.7 with loads that leave the first-level
cache out and ask for 256 bytes at a time (PyTorch 20.1).
"""

from pathlib import Path
from typing import Any

import numpy as np

from warpglass.ladders.plan import Plan, Scratch, Step
from warpglass.ladders.problem import C_NAMES, Case
from warpglass.ladders.run import HostRun
from warpglass.ladders.rung import Claim, Rung

PACK = 16  # bytes of a load
UNROLL = 2  # loads of each array under way in a thread
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
    """Add the products of the n elements of `x` and `y` in the type `adds` (dtype) into the one of `dot`.

    `adds` has 4 or 8 bytes, and `dot` is of the type `result` (adds). x and y may begin anywhere. The sum of
    a float type is the same in every run with the same n, parameters and places of x and y between multiples
    of 16 bytes.
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
        arguments=("x", "y", "dot", "words", np.uint64(n)),
    )
    words = Scratch("words", np.dtype(np.uint64), blocks * adds.itemsize // 4, zeroed=True)
    return Plan((step,), (words,))


def grid(n: int, dtype: np.dtype[Any], block: int, most_threads: int) -> int:
    """Blocks enough for UNROLL loads a thread, or as many as there may be; one at least."""
    tile = block * UNROLL * PACK // dtype.itemsize
    return max(1, min(-(-n // tile), most_threads // block))


def roundings(n: int, dtype: np.dtype[Any], block: int, most_threads: int = MOST_THREADS) -> int:
    """How many roundings a product goes through at most: its own, in its thread, block and the last block."""
    blocks, width = grid(n, dtype, block, most_threads), PACK // dtype.itemsize
    tiles = -(-n // (blocks * block * UNROLL * width))
    return 1 + tiles + 2 * UNROLL + width.bit_length() + 2 + -(-blocks // block) + 2 * 10


def ladder_plan(case: Case, block: int) -> Plan:
    """The plan for a case, whose result has no array of its own."""
    found = plan(case.size, case.dtype, block=block)
    return Plan(found.steps, (*found.scratch, Scratch("dot", case.dtype, 1)))


def program(run: HostRun) -> None:
    """Launch once; the sum is whole."""
    run.follow_plan()
    run.keep("dot", run.to_host(run.scratch("dot", 1, run.case.dtype))[0])


RUNG = Rung(
    follows="warp_shuffle",
    plan=ladder_plan,
    program=program,
    depth=lambda case, block: roundings(case.size, case.dtype, block),
    claims=(Claim("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "<", "warp_shuffle"),),
)
