"""Branches: how many were executed, and at how many the threads of a warp parted."""

from __future__ import annotations

from ...records.profile import Subject
from .table import Measured, declare, ratio

_BRANCHES = ("branch", "call", "return", "switch")


def _branches(m: Measured) -> float:
    """Jumps of any kind; ptxas turns many of PTX's into predicates."""
    return sum(tally.issued for tally in m.tallies if tally.step.control in _BRANCHES)


def _divergent(m: Measured) -> float:
    """Executions with two or more targets among the active threads."""
    return sum(tally.divergent for tally in m.tallies)


def _uniform(m: Measured) -> float:
    return _branches(m) - _divergent(m)


declare(
    Subject.INSTRUCTIONS,
    {
        "smsp__sass_branch_targets.sum": ("branch instructions executed by warps", "", _branches),
        "smsp__sass_branch_targets_threads_divergent.sum": (
            "branch instructions at which the threads of a warp parted",
            "",
            _divergent,
        ),
        "smsp__sass_branch_targets_threads_uniform.sum": (
            "branch instructions at which all active threads went the same way",
            "",
            _uniform,
        ),
        "smsp__sass_average_branch_targets_threads_uniform.pct": (
            "share of branch instructions at which all active threads went the same way",
            "%",
            lambda m: ratio(_uniform(m), _branches(m), 100),
        ),
    },
    machine=True,
)
