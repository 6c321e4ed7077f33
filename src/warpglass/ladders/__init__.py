"""Ladders: one algorithm from its first version to its best, one folder each.

A folder holds ladder.py with the constant LADDER, problem.py, and its rungs. Finding one imports only
that one.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from ..errors import ArgumentError

if TYPE_CHECKING:
    from .ladder import PackagedLadder


def ladder_names() -> tuple[str, ...]:
    """The names of all ladders."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(__path__) if found.ispkg))


def find_ladder(name: str) -> PackagedLadder:
    """Return the ladder of that name, or say which ones there are."""
    if name not in ladder_names():
        raise ArgumentError(f"no ladder {name!r}; there is: {', '.join(ladder_names())}")
    ladder: PackagedLadder = importlib.import_module(f"{__name__}.{name}.ladder").LADDER
    return ladder
