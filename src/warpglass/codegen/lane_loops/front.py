"""What comes in front of a loop of known rounds: which lanes go, and how many rounds each has, from where."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..lanes.fast import FastLanes
from ..memory.access import Bounds
from ..registers import Registers
from .preparation import Plan, Preparation
from .rounds import Rounds, Walk


class Front:
    """Emits what comes in front of one loop; `after` is how many rounds (i64) lanes have after the first."""

    def __init__(
        self, rounds: Rounds, lanes: FastLanes, registers: Registers, bounds: Callable[[Walk], Bounds]
    ):
        self._walks = rounds.walks
        self._bounds = bounds
        self._preparation = Preparation(lanes, registers)
        self.b = lanes.builder
        self._whole, self._choice = self.b.vector("i64"), self.b.vector("i1")
        self.after = self._preparation.count(rounds)

    def plan(self, mask: str) -> Plan:
        """Look at the lanes of a mask."""
        b, whole = self.b, self._whole
        able = b.value(f"and {self._choice} {self._preparation.able}, {b.mask_vector(mask)}")
        rounds = b.value(f"add {whole} {self.after}, {b.splat('i64', '1')}")
        starts = [self._preparation.first(walk) for walk in self._walks]
        hosts: list[str] = []
        for walk, start in zip(self._walks, starts, strict=True):
            inside = self._inside(walk, start, rounds)
            able = b.value(f"and {self._choice} {able}, {inside}")
            hosts.append(b.value(f"add {whole} {start}, {b.splat('i64', self._bounds(walk).delta)}"))
        return Plan(b.mask_bits(able), rounds, tuple(hosts), tuple(starts), lambda: self._strays(starts))

    def _element(self, walk: Walk, start: str) -> str:
        """How many elements behind its range's start a walk begins; many if it begins elsewhere."""
        b, whole = self.b, self._whole
        inside = b.value(f"sub {whole} {start}, {b.splat('i64', self._bounds(walk).low)}")
        return b.elements(inside, walk.size, b.width)

    def _inside(self, walk: Walk, start: str, rounds: str) -> str:
        """Whether all loads of so many rounds are within the range, as a vector of i1."""
        b, whole = self.b, self._whole
        first = self._element(walk, start)
        limit, more = self._bounds(walk).limit, walk.span // walk.size
        if more:
            limit = b.intrinsic("usub.sat", "i64", limit, str(more))
        pace = walk.pace // walk.size
        if pace:
            moved = b.value(f"mul {whole} {rounds}, {b.splat('i64', str(pace))}")
            last = b.value(f"add {whole} {first}, {moved}")
            last = b.value(f"sub {whole} {last}, {b.splat('i64', str(pace))}")
            first = b.intrinsic("umax", "i64", first, last, lanes=b.width)
        return b.value(f"icmp ult {whole} {first}, {b.splat('i64', limit)}")

    def _strays(self, starts: Iterable[str]) -> str:
        """The mask of lanes for which a walk begins in another range than its site remembers."""
        b, found = self.b, "0"
        for walk, start in zip(self._walks, starts, strict=True):
            limit = b.splat("i64", self._bounds(walk).limit)
            outside = b.value(f"icmp uge {self._whole} {self._element(walk, start)}, {limit}")
            found = b.value(f"or {b.lanes} {found}, {b.mask_bits(outside)}")
        return found
