"""Loops that store: lanes may only go one after the other if none could see, or undo, what another stores.

Together, all lanes do a step before any does the next one. Alone, a lane does all its rounds first. That is
the same if nothing that one lane stores is loaded, or stored, by another. So all accesses of such a loop have
to move on evenly (rounds.py): then it is known before the first round what each lane reaches in each array,
that no access faults, and so that no lane has to begin again. Lanes must reach parts of what they store into
that lie in their order, as rows do; nothing else that the loop reaches may overlap with that.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...program.pointers import Word
from ..builder import Builder
from ..infer import Inference
from .find import Group, LaneLoop
from .rounds import Rounds, Walk

# Where nothing lies that is stored to global memory.
_ELSEWHERE = ("shared", "const")


def stores_own(loop: LaneLoop, rounds: Rounds, found: Inference) -> bool:
    """Whether no lane reaches what another one stores, in whatever rounds they are.

    Parameters are taken to point to arrays apart. In one that is stored to, all lanes then lie, at known
    distances from each other, within what a round moves on by.
    """
    groups = [group for group in loop.groups if group.space not in _ELSEWHERE]
    stored = {word for group in groups if group.writes for word in _words(group)}
    reaching = [group for group in groups if group.writes or not stored.isdisjoint(_words(group))]
    if not stored:
        return not any(group.writes for group in groups)
    if not all(map(_words, groups)):
        return False
    arrays = {_words(group) for group in reaching}
    return sum(map(len, arrays)) == len(stored) and all(
        _lie_apart([group for group in reaching if _words(group) == array], rounds, found) for array in arrays
    )


def _words(group: Group) -> frozenset[Word]:
    """The parameters that a group's addresses are computed from; none if that is not known."""
    return group.array if isinstance(group.array, frozenset) else frozenset()


def _lie_apart(groups: Sequence[Group], rounds: Rounds, found: Inference) -> bool:
    """Whether each lane has places of its own among those that some groups reach."""
    steps = {step for group in groups for step in group.steps}
    walks = [walk for walk in rounds.walks if not steps.isdisjoint(walk.steps)]
    offsets = {None if group.base is None else found.offsets(group.base) for group in groups}
    if (
        len(offsets) != 1
        or not steps <= rounds.walked
        or len({(one.first.parts, one.pace) for one in walks}) != 1
    ):
        return False
    (lanes,) = offsets
    starts = [walk.first.number for walk in walks]
    width = max(walk.first.number + walk.span + walk.size for walk in walks) - min(starts)
    places = sorted(lanes or ())
    return (
        len(places) > 0
        and all(b - a >= width for a, b in pairwise(places))
        and places[-1] - places[0] + width <= walks[0].pace
    )


def say_apart(b: Builder, walks: Sequence[Walk]) -> dict[int, str]:
    """What LLVM is told of accesses where stores meet nothing, by step: arrays do not overlap."""
    domain = b.node()
    scopes = {array: b.node(domain) for array in dict.fromkeys(walk.array for walk in walks)}
    said: dict[int, str] = {}
    for walk in walks:
        others = ", ".join(scope for array, scope in scopes.items() if array != walk.array)
        text = f", !alias.scope !{{{scopes[walk.array]}}}, !noalias !{{{others}}}"
        said |= dict.fromkeys(walk.steps, text)
    return said


def short_rounds(b: Builder) -> str:
    """Tells LLVM to do several rounds of a loop at once, the last ones under a mask: they are few."""
    hints = {"vectorize.predicate.enable": "i1 true", "interleave.count": "i32 1"}
    return b.node(*(f'!{{!"llvm.loop.{name}", {value}}}' for name, value in hints.items()))


class Meeting:
    """Emits the test whether what lanes store meets what other lanes reach, or what they reach elsewhere.

    `starts` are the addresses at which walks begin, `last` how many rounds (i64) are behind the first.
    """

    def __init__(self, b: Builder, walks: Sequence[Walk], starts: Sequence[str], last: str, mask: str):
        self.b = b
        self._whole = b.vector("i64")
        self._active = b.mask_vector(mask)
        arrays: dict[object, list[tuple[Walk, str]]] = {}
        for walk, start in zip(walks, starts, strict=True):
            arrays.setdefault(walk.array, []).append((walk, start))
        self._stored = {array: any(walk.writes for walk, _ in found) for array, found in arrays.items()}
        self._parts = {array: self._part(found, last) for array, found in arrays.items()}

    def emit(self) -> str:
        """An i1 that holds if they meet."""
        b, found = self.b, "false"
        edges = {
            array: (self._reduced("umin", low), self._reduced("umax", high))
            for array, (low, high) in self._parts.items()
        }
        arrays = list(self._parts)
        for k, array in enumerate(arrays):
            if self._stored[array]:
                found = b.value(f"or i1 {found}, {self._out_of_order(*self._parts[array])}")
            for other in arrays[:k]:
                if self._stored[array] or self._stored[other]:
                    found = b.value(f"or i1 {found}, {self._overlap(edges[array], edges[other])}")
        return found

    def _part(self, walks: Sequence[tuple[Walk, str]], last: str) -> tuple[str, str]:
        """What each lane reaches in an array: from the first address to behind the last one."""
        b, lows, highs = self.b, list[str](), list[str]()
        for walk, start in walks:
            lows.append(start)
            way = b.value(f"mul {self._whole} {last}, splat (i64 {walk.pace})")
            end = b.value(f"add {self._whole} {start}, {way}")
            highs.append(b.value(f"add {self._whole} {end}, splat (i64 {walk.span + walk.size})"))
        low, high = lows[0], highs[0]
        for one, other in zip(lows[1:], highs[1:], strict=True):
            low = b.intrinsic("umin", "i64", low, one, lanes=b.width)
            high = b.intrinsic("umax", "i64", high, other, lanes=b.width)
        return self._of_active(low, "splat (i64 -1)"), self._of_active(high, "zeroinitializer")

    def _of_active(self, text: str, otherwise: str) -> str:
        b, whole = self.b, self._whole
        return b.value(f"select {b.vector('i1')} {self._active}, {whole} {text}, {whole} {otherwise}")

    def _reduced(self, way: str, text: str) -> str:
        b = self.b
        return b.call("i64", f"llvm.vector.reduce.{way}.{b.suffix('i64')}", [(self._whole, text)])

    def _overlap(self, one: tuple[str, str], other: tuple[str, str]) -> str:
        b = self.b
        before = b.value(f"icmp ult i64 {one[0]}, {other[1]}")
        return b.value(f"and i1 {before}, {b.value(f'icmp ult i64 {other[0]}, {one[1]}')}")

    def _out_of_order(self, low: str, high: str) -> str:
        """An i1 that holds if the part of a lane begins before that of one below it ends."""
        b, distance = self.b, 1
        ends = self._moved(high, 1)
        while distance < b.width:
            ends = b.intrinsic("umax", "i64", ends, self._moved(ends, distance), lanes=b.width)
            distance *= 2
        early = b.value(f"icmp ult {self._whole} {low}, {ends}")
        return b.someone(b.mask_bits(early))

    def _moved(self, text: str, lanes: int) -> str:
        """Each lane has what the one so far below it had, the lowest ones zero."""
        b = self.b
        picks = [b.width + k - lanes if k >= lanes else k for k in range(b.width)]
        return b.shuffle("i64", b.width, "zeroinitializer", picks, text)
