"""What a pass is: one analysis or rewriting in a list that is walked, with what it needs, gives and gains."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


def _always(_: object) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Pass(Generic[T]):
    """One row of a list: `run` reads some fields of what is being made, and sets others.

    `needs` and `gives` name them. The pass is left out where `when` does not hold. `gain` says what it is
    good for, and is empty if nothing works without it.
    """

    name: str
    run: Callable[[T], None]
    needs: str
    gives: str
    when: Callable[[T], bool] = _always
    gain: str = ""


def run_passes(passes: Iterable[Pass[T]], made: T) -> None:
    """Walk a list."""
    for one in passes:
        if one.when(made):
            one.run(made)
