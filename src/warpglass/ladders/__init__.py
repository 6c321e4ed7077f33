"""Ladders: one algorithm from its first version to its best, one folder each.

A folder holds problem.py and its rungs, and a sort may have trace.py (ladder.py).
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

from ..errors import ArgumentError
from ..records.spelling import did_you_mean

if TYPE_CHECKING:
    from .ladder import PackagedLadder


def ladder_names() -> tuple[str, ...]:
    """The names of all ladders."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(__path__) if found.ispkg))


@cache
def find_ladder(name: str) -> PackagedLadder:
    """Return the ladder of that name, importing no other, or say which ones there are."""
    if name not in ladder_names():
        known = ladder_names()
        raise ArgumentError(f"no ladder {name!r}{did_you_mean(name, known)}; there is: {', '.join(known)}")
    package = f"{__name__}.{name}"
    problem = importlib.import_module(f"{package}.problem").PROBLEM
    # Not at the top: reports read records of this package and run no ladder.
    found: PackagedLadder = importlib.import_module(f"{__name__}.ladder").PackagedLadder(package, problem)
    return found
