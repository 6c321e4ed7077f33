"""The dot-product ladder, ready for a bench."""

from __future__ import annotations

from ..ladder import PackagedLadder
from ..run import Run
from .problem import PROBLEM, grid_stride, host_sum


def run_added(run: Run, kernel: str) -> None:
    """The host program of a user's kernel, which stores a sum for each block."""
    shape = grid_stride(run.case, run.block)
    run.launch(kernel, shape, *PROBLEM.signature)
    run.keep("dot", run.on_host(host_sum, run.to_host(run["partial"])[: shape.grid3[0]]))


LADDER = PackagedLadder(__package__ or "", PROBLEM, run_added)
