"""Ladders: one algorithm from its first version to its best, one folder each.

A folder holds problem.py and its rungs, and a sort may have trace.py (ladder.py).
"""

from __future__ import annotations

import pkgutil


def ladder_names() -> tuple[str, ...]:
    """The names of all ladders."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(__path__) if found.ispkg))
