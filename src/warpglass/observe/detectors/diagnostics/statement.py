"""A statement of a source text, C++ or Python."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Statement:
    """`kind` is simple, jump, if, loop, switch, group or function; lines are counted from 1.

    `head` is the last line of the condition or header, `branches` are the statements under it: both of an
    `if` with an `else`. `braced` says of each whether a line can be added to it as it stands.
    """

    kind: str
    first: int
    last: int
    head: int
    branches: tuple[tuple[Statement, ...], ...] = ()
    braced: tuple[bool, ...] = ()
    leaves: bool = False  # a jump out of a loop or to its next pass
