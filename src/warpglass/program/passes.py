"""What a pass is: one analysis or rewriting in a list that is walked, with what it needs, gives and gains."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any


@dataclass(frozen=True, slots=True)
class Pass:
    """One row of a list: a function from some fields of what is being made to others.

    `needs` and `gives` name them: the function's arguments, with dots into what fields hold, and its results.
    The pass is left out where `when` does not hold. `gain` says what it is good for, and is empty if nothing
    works without it.
    """

    name: str
    run: Callable[..., Any]
    needs: str
    gives: str
    when: Callable[[Any], bool] = lambda _: True
    gain: str = ""


def run_passes(passes: Iterable[Pass], made: object) -> None:
    """Walk a list."""
    for one in passes:
        if not one.when(made):
            continue
        found = one.run(*(attrgetter(name)(made) for name in one.needs.split()))
        names = one.gives.split()
        for name, value in zip(names, found if len(names) > 1 else (found,), strict=bool(names)):
            setattr(made, name, value)
