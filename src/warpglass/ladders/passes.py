"""One pass of a sort as a reader sees it: the numbers before and after, cut where the blocks meet.

Belongs here: the record only. A ladder makes it from a real run, report/trace.py prints it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pass:
    """Pass `name` ("1a", "1b", ...) of `blocks` blocks; a part is what one block sorts, or leaves alone."""

    name: str
    blocks: int
    before: tuple[tuple[float, ...], ...]
    after: tuple[tuple[float, ...], ...]
