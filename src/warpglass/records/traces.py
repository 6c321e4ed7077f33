"""What the threads of one block did at memory, in order: the record behind `warpglass trace`.

Belongs here: the record, and its merging into steps of the block. Words are report/trace_steps.py's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

Number = float | int
_Key = tuple[int, int, int]  # PTX line, part of the access, how often the warp has made it since the barrier


@dataclass(frozen=True, slots=True)
class Touch:
    """What one thread did: the number of the element in C order, and its value (None: not known)."""

    thread: int
    element: int
    value: Number | None


@dataclass(frozen=True, slots=True)
class Moment:
    """One access of a warp, or its coming to a barrier.

    `kind` is "load", "store", "atomic" (values are those before it) or "barrier", where touches only have
    threads. `array` is the argument or variable, `ptx` the number of the PTX line; `part` counts the elements
    of a wide access.
    """

    kind: str
    array: str
    file: str
    line: int
    ptx: int
    part: int
    warp: int
    touches: tuple[Touch, ...]


@dataclass(frozen=True, slots=True)
class TraceStep:
    """What all warps of the block do at the same access of the same phase; `phase` counts barriers."""

    phase: int
    kind: str
    array: str
    file: str
    line: int
    touches: tuple[Touch, ...]


@dataclass(frozen=True)
class Trace:
    """A launch seen from one of its blocks, by number. `lost` accesses came after those that are kept."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    number: int
    moments: tuple[Moment, ...]
    lost: int = 0

    @cached_property
    def steps(self) -> tuple[TraceStep, ...]:
        """The steps of the block: warps side by side wherever they do the same since the last barrier."""
        phases: list[list[list[Moment]]] = []
        ordered = sorted(self.moments, key=lambda one: one.warp)  # stable: each warp's stay in order
        for _, moments in groupby(ordered, key=lambda one: one.warp):
            for place, part in enumerate(_parts(list(moments))):
                if place == len(phases):
                    phases.append([])
                phases[place].append(part)
        return tuple(step for place, warps in enumerate(phases) for step in _merged(place, warps))


def _parts(moments: Sequence[Moment]) -> Iterator[list[Moment]]:
    """One warp's moments, cut behind its barriers, to which lanes may come one after the other."""
    part: list[Moment] = []
    for one in moments:
        if part and part[-1].kind == "barrier" and not _joins(one, part[-1]):
            yield part
            part = []
        part.append(one)
    if part:
        yield part


def _joins(one: Moment, barrier: Moment) -> bool:
    """Whether a moment is the coming of other lanes to the same barrier."""
    come = {touch.thread for touch in barrier.touches}
    return one.kind == "barrier" and one.ptx == barrier.ptx and come.isdisjoint(t.thread for t in one.touches)


def _merged(phase: int, warps: Sequence[Sequence[Moment]]) -> Iterator[TraceStep]:
    # The steps as a list whose places are linked: a warp's own ones come behind what it did before.
    behind: dict[_Key | None, _Key | None] = {None: None}
    found: dict[_Key, list[Moment]] = {}
    for moments in warps:
        seen: dict[tuple[int, int], int] = {}
        last: _Key | None = None
        for one in moments:
            place = one.ptx, one.part
            seen[place] = seen.get(place, 0) + (one.kind != "barrier")
            key = *place, seen[place]
            if key not in found:
                behind[key], behind[last] = behind[last], key
                found[key] = []
            last = key
            found[key].append(one)
    key = behind[None]
    while key is not None:
        first, touches = found[key][0], [touch for one in found[key] for touch in one.touches]
        touches.sort(key=lambda touch: touch.thread)
        yield TraceStep(phase, first.kind, first.array, first.file, first.line, tuple(touches))
        key = behind[key]
