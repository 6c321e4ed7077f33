"""Branches: how many were executed, and at how many the threads of a warp parted."""

from __future__ import annotations

from ...records.profile import Subject
from .table import Measured, counter, ratio

_BRANCHES = ("branch", "call", "return", "switch")


@counter(
    "smsp__sass_branch_targets.sum",
    "branch instructions executed by warps",
    Subject.INSTRUCTIONS,
    machine=True,
)
def branches(m: Measured) -> float:
    """Jumps of any kind; ptxas turns many of PTX's into predicates."""
    return sum(tally.issued for tally in m.tallies if tally.step.control in _BRANCHES)


@counter(
    "smsp__sass_branch_targets_threads_divergent.sum",
    "branch instructions at which the threads of a warp parted",
    Subject.INSTRUCTIONS,
    machine=True,
)
def divergent(m: Measured) -> float:
    """Executions with two or more targets among the active threads."""
    return sum(tally.divergent for tally in m.tallies)


@counter(
    "smsp__sass_branch_targets_threads_uniform.sum",
    "branch instructions at which all active threads went the same way",
    Subject.INSTRUCTIONS,
    machine=True,
)
def uniform(m: Measured) -> float:
    """The others."""
    return branches(m) - divergent(m)


@counter(
    "smsp__sass_average_branch_targets_threads_uniform.pct",
    "share of branch instructions at which all active threads went the same way",
    Subject.INSTRUCTIONS,
    "%",
    machine=True,
)
def uniform_share(m: Measured) -> float:
    """In percent; 0 without any branch."""
    return ratio(uniform(m), branches(m), 100)
