"""The ranges of memory that lanes on their own reach, one for all accesses of a place."""

from __future__ import annotations

from collections.abc import Sequence

from ..builder import Builder
from ..context import READ, SITE_WORDS, WRITE
from ..lanes.fast import FastLanes
from ..memory.access import Access, Bounds
from ..registers import Registers
from .find import Group
from .rounds import Walk

# More rounds than any loop has.
_ENDLESS = (1 << 63) - 1


class LaneRanges:
    """The ranges of one loop's accesses."""

    def __init__(self, access: Access):
        self.b: Builder = access.builder
        self._access = access
        self._places: dict[object, tuple[int, Bounds]] = {}
        self._limits: dict[int, str] = {}  # by a group's leader

    def bounds(self, accesses: Group | Walk) -> Bounds:
        """The range that accesses are checked against."""
        if accesses.place not in self._places:
            self._access.step = accesses.leader
            site = self._access.new_site(accesses.space, accesses.writes, accesses.size)
            self._places[accesses.place] = site, self._access.bounds(site)
        return self._places[accesses.place][1]

    def limit(self, group: Group) -> str:
        """How many elements behind its range's start a group's lowest load must begin before."""
        if group.leader not in self._limits:
            more, limit = (group.high - group.low) // group.size - 1, self.bounds(group).limit
            if more:
                limit = self.b.intrinsic("usub.sat", "i64", limit, str(more))
            self._limits[group.leader] = limit
        return self._limits[group.leader]

    def count_rounds(self, groups: Sequence[Group], lanes: FastLanes, registers: Registers) -> str:
        """How many rounds each lane (i64) may go before an access that moves evenly leaves its range."""
        b, whole = self.b, self.b.vector("i64")
        least = b.splat("i64", str(_ENDLESS))
        for group in groups:
            assert group.base is not None
            bounds, limit = self.bounds(group), self.limit(group)
            start = b.splat("i64", b.value(f"sub i64 {bounds.low}, {group.low}"))
            inside = b.value(f"sub {whole} {lanes.as_vector(registers.read(group.base)).ir}, {start}")
            inside = b.elements(inside, group.size, b.width)
            within = b.value(f"icmp ult {whole} {inside}, {b.splat('i64', limit)}")
            rounds = b.splat("i64", str(_ENDLESS))
            if group.stride:
                last = b.splat("i64", b.value(f"sub i64 {limit}, 1"))
                further = b.value(f"sub {whole} {last}, {inside}")
                shift = b.splat("i64", str(group.stride.bit_length() - 1))
                further = b.value(f"lshr {whole} {further}, {shift}")
                rounds = b.value(f"add {whole} {further}, {b.splat('i64', '1')}")
            none = f"{whole} zeroinitializer"
            rounds = b.value(f"select {b.vector('i1')} {within}, {whole} {rounds}, {none}")
            least = b.intrinsic("umin", "i64", least, rounds, lanes=b.width)
        return least

    def learn(self, accesses: Sequence[tuple[Group | Walk, str]]) -> str:
        """Let sites remember the ranges of some addresses; an i1 that holds if all are in one."""
        b, found = self.b, "true"
        for group, address in accesses:
            if group.space == "shared":
                found = "false"
                continue
            site = self._places[group.place][0]
            args = [
                ("ptr", "%context"),
                ("ptr", b.offset("%sites", site * SITE_WORDS * 8)),
                ("i64", address),
                ("i64", str(group.size)),
                ("i64", str(WRITE if group.writes else READ)),
                ("i1", "true" if group.space == "generic" else "false"),
            ]
            found = b.value(f"and i1 {found}, {b.call('i1', 'wg_learn_range', args)}")
        return found
