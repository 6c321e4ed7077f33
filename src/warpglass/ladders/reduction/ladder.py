"""The reduction ladder, ready for a bench."""

from __future__ import annotations

from ..ladder import PackagedLadder
from ..run import Run
from .problem import PROBLEM
from .rung import Plan, reduce


def reduce_by(run: Run, kernel: str) -> None:
    """Launch a user's kernel: an element a thread, and shared memory for the block's elements."""
    reduce(run, kernel, Plan(shared=True))


LADDER = PackagedLadder(__package__ or "", PROBLEM, added=reduce_by)
