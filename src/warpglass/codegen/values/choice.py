"""A value of which each lane has one of several that have a form."""

from __future__ import annotations

from dataclasses import dataclass

from .value import Value


@dataclass(frozen=True, slots=True)
class Choice:
    """The first value whose condition, a vector of i1, holds in a lane; else the last, which has none."""

    conditions: tuple[str, ...]
    values: tuple[Value, ...]
