"""Sixteen bytes of keys in one load: a warp that asks for 32 bytes at a time leaves most of a request unused.

A request of 32 lanes may bring 512 bytes. Bytes loaded one by one bring 32, so that a thread has 16 times
as many loads to wait for. What does not fill a vector at the end is counted key by key. (C++ only: kernels
in Python have no vector loads.)

Look at the load requests and at the instructions.
"""

from __future__ import annotations

from pathlib import Path

from warpglass.ladders.histogram.problem import few_blocks
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Claim, Kernel, Rung


def program(run: Run) -> None:
    """Launch few blocks."""
    run.launch("shared_vectors", few_blocks(run.case, run.block), "x", "counts", "n", "bins")


RUNG = Rung(
    name="shared_vectors",
    table="bytes",
    explanation=__doc__ or "",
    follows="warp_bins",
    kernels=(
        Kernel(name="shared_vectors", file=Path(__file__).with_suffix(".cu"), cuda="shared_vectors<{type}>"),
    ),
    program=program,
    shape=few_blocks,
    claims=(
        Claim("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "<", "shared_bins"),
        Claim("smsp__inst_executed.sum", "<", "shared_bins"),
    ),
)
