"""Markers that tell the checker what an array is for: `out(x)` is written whole, `all_of(x)` is read whole.

Elsewhere a marked array is the array itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

OUTPUT, INPUT = "output", "input"


@dataclass(frozen=True, slots=True)
class Marked:
    """An array argument with what it is for."""

    array: object
    purpose: str


def out(array: object) -> Marked:
    """Mark an array argument as output: `check` reports elements that no thread writes.

    It also reports elements that are read before they are written. Works with `run`, `profile` and launches,
    too, which take the array as it is.
    """
    return Marked(array, OUTPUT)


def all_of(array: object) -> Marked:
    """Mark an array argument as input that is read whole: `check` reports elements that no thread reads."""
    return Marked(array, INPUT)


Purposes = tuple[tuple[int, str], ...]


def purposes(args: Sequence[object], leaves: Callable[[Sequence[object]], tuple[object, ...]]) -> Purposes:
    """What marked arrays are for, by their position among the arguments as `leaves` takes them apart."""
    if Marked not in map(type, args):
        return ()
    found: list[tuple[int, str]] = []
    position = 0
    for arg in args:
        if isinstance(arg, Marked):
            found.append((position, arg.purpose))
        position += len(leaves(unmark((arg,))))
    return tuple(found)


def unmark(args: Sequence[object]) -> tuple[object, ...]:
    """The arguments themselves."""
    return tuple([arg.array if isinstance(arg, Marked) else arg for arg in args])
