"""Trip counts: a variable with bounds that always moves on limits how often its loop can run.

What changes by known amounts in each trip then has bounds too, even if no test ever looks at it. That a
compiler counts down to zero beside the index is so of no matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...isa.types import BITS
from .domain import AbstractInt, bounds_of, limits, signed

# Bounds of registers in front of blocks, by block and register.
TripBounds = dict[int, dict[str, tuple[int, int]]]
State = Mapping[str, AbstractInt]


def trip_bounds(edges: Mapping[tuple[int, int], State], states: Mapping[int, State]) -> TripBounds:
    """What loops' trips say of variables beyond their bounds, given states that hold and what edges bring."""
    caps: TripBounds = {}
    for head, state in states.items():
        back = [brought for (source, target), brought in edges.items() if target == head <= source]
        entering = [brought for (source, target), brought in edges.items() if target == head > source]
        if not back or not entering:
            continue
        strides = {name: strides for name in state if (strides := _strides(state[name], name, back))}
        trips = min(
            (most for name, own in strides.items() if (most := _most_trips(state[name], own)) is not None),
            default=None,
        )
        if trips is None:
            continue
        caps[head] = {
            name: reach
            for name, own in strides.items()
            if (reach := _reach([brought[name] for brought in entering], own, trips)) is not None
            and not _within(bounds_of(state[name]), reach)
        }
    return {head: own for head, own in caps.items() if own}


def _within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _strides(value: AbstractInt, name: str, back: Sequence[State]) -> list[int] | None:
    """By how much a variable changes along each of a loop's backward edges, if that is known."""
    found: list[int] = []
    for state in back:
        again = state.get(name)
        root, distance = (again.source or (again.root, again.distance)) if again is not None else (-1, 0)
        if root != value.root or value.root < 0:
            return None
        found.append(signed(distance - value.distance, value.type))
    return found


def _most_trips(value: AbstractInt, strides: Sequence[int]) -> int | None:
    """How often a variable can change before it leaves its bounds, without wrapping around."""
    low, high = bounds_of(value)
    least = min(map(abs, strides))
    one_way = min(strides) > 0 or max(strides) < 0
    if not one_way or high - low + max(map(abs, strides)) >= 1 << BITS[value.type]:
        return None
    return (high - low) // least


def _reach(starts: Sequence[AbstractInt], strides: Sequence[int], trips: int) -> tuple[int, int] | None:
    """Where a variable can be at the head; None if it might wrap around."""
    least, greatest = limits(starts[0].type)
    low = min(bounds_of(start)[0] for start in starts) + min(0, *strides) * trips
    high = max(bounds_of(start)[1] for start in starts) + max(0, *strides) * trips
    return (low, high) if least <= low and high <= greatest else None
