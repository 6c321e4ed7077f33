"""A look-back in a fixed order: one launch, 16 bytes a load, and the same bits in every run.

`single_pass` adds up what the tiles before have told, in an order that depends on when they told it: its
floating-point sums differ from run to run. Here 32 tiles make a group, whose sum is always the same tree, and
the sum up to the end of a group is that up to the one before plus the group's. A block begins at the nearest
group that knows its own and adds the groups after it one by one, as they did; so it does not matter where it
begins. Its warps ask at once, each for a group of 32 tiles, so that they wait for no other group to add up.

A value and its mark lie in one word of 64 bits (8 bytes of value in two such words), which arrives whole, so
no fence stands between them. Elements stay in registers: a lane has 16 bytes of a row, a warp scans row by
row, and shared memory holds a sum per warp. Tiles are large, 144 KiB, for every one costs a look-back; what
is read and written once is marked so that the cache does not keep it. The last block forgets what was told:
no second launch. Blocks take the tiles of their own numbers: like CUB, it trusts that they start in order.

Prediction: two launches become one, 4-byte loads become 16-byte loads; n elements are read and written once,
8 bytes for each float32, so the time is that of a copy, 506 us for 2^28 on an H200, and of what the look-back
keeps blocks from: a word on its way to another multiprocessor takes 1 to 2 us, a tile 8.

Outcome, H200: 2^28 float32 in 635 us, PyTorch (CUB) 829: four fifths of a copy's speed. What paid: tiles of
128 KiB and more in place of 32 (-20 %), all warps asking at once (-6 %), loads and stores that the cache does
not keep. What did not: blocks that stay and fetch their next tile while they wait (900 us; a tile's total is
then told only after the block's tile before it). Fewer than 2^21 of them are in tiles of 32 KiB, one on each
multiprocessor: 2^20 in 6.4 us in place of 6.7 (PyTorch 7.8), of which a launch takes 2 and the words that
tell of other tiles 2.
"""

from pathlib import Path
from typing import Any

import numpy as np

from warpglass.ladders.plan import Plan, Scratch, Step
from warpglass.ladders.problem import C_NAMES, Case
from warpglass.ladders.rung import Claim, Rung
from warpglass.ladders.scan.problem import PROBLEM

GROUP = 32  # tiles, as in the .cu file
ROWS = 9  # packs of a thread: what 1024 threads have registers for
# Threads and packs of a thread for fewer bytes than that: more multiprocessors have a tile.
SMALL, FEW = (512, 4), 2**23


def plan(
    n: int,
    dtype: np.dtype[Any],
    *,
    adds: np.dtype[Any] | None = None,
    result: np.dtype[Any] | None = None,
    block: int | None = None,
    rows: int | None = None,
) -> Plan:
    """Scan the n elements of `x` in the type `adds` (dtype) into `y`, of the type `result` (adds).

    `adds` has 4 or 8 bytes. x and y may begin anywhere, and may be one array. Floats come out the same in
    every run with the same n and parameters. `rows` are the packs of a thread.
    """
    adds, result = adds or dtype, result or adds or dtype
    usual = SMALL if n * max(dtype.itemsize, result.itemsize) < FEW else (1024, ROWS)
    block, rows = block or usual[0], rows or usual[1]
    count = tiles(n, max(dtype.itemsize, result.itemsize), block, rows)
    words = adds.itemsize // 4
    types = ", ".join(C_NAMES[one.name] for one in (dtype, adds, result))
    step = Step(
        f"ordered_look_back<{types}, {block}, {rows}>",
        Path(__file__).with_suffix(".cu"),
        grid=count,
        block=block,
        shared=0,
        arguments=("x", "y", "tiles", "groups", "done", np.uint64(n)),
    )
    scratch = (
        Scratch("tiles", np.dtype(np.uint64), count * words, zeroed=True),
        Scratch("groups", np.dtype(np.uint64), -(-count // GROUP) * words, zeroed=True),
        Scratch("done", np.dtype(np.uint32), 1, zeroed=True),
    )
    return Plan((step,), scratch)


def tiles(n: int, itemsize: int, block: int, rows: int) -> int:
    """How many tiles n elements make, at least one; a block has each."""
    return max(1, -(-n // (block * rows * (16 // itemsize))))


def depth(case: Case, block: int) -> int:
    """A pack, a row, the rows, the warps; a group, the groups one by one; four to join."""
    groups = -(-ladder_plan(case, block).steps[0].shape.grid3[0] // GROUP)
    return 16 // case.dtype.itemsize + 5 + ROWS + 5 + 5 + groups + 4


def ladder_plan(case: Case, block: int) -> Plan:
    """The plan for a case; the table's own block leaves the choice to the plan."""
    usual = PROBLEM.tables[case.question.table].block
    return plan(case.size, case.dtype, block=None if block == usual else block)


RUNG = Rung(
    follows="single_pass",
    plan=ladder_plan,
    depth=depth,
    claims=(
        Claim("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "<", "single_pass"),
        Claim("smsp__inst_executed.sum", "<", "single_pass"),
    ),
)
