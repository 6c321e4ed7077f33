"""The ranges of memory that lanes on their own reach, one for all accesses of a place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..builder import Builder
from ..context import READ, SITE_WORDS, WRITE
from ..memory.access import Access
from ..memory.sites import Bounds
from .find import Group
from .one_lane import Checked, Runner
from .rounds import Walk


class LaneRanges:
    """The ranges of one loop's accesses.

    `scalars` are the registers that all lanes share.
    """

    def __init__(self, access: Access, scalars: Mapping[str, str]):
        self.b: Builder = access.builder
        self._access = access
        self._scalars = scalars
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

    def is_aligned(self, group: Group) -> bool:
        """Whether it is found in front of the loop that a group's root lies whole elements from its range."""
        return group.size > 1 and group.root in self._scalars

    def checks(self, groups: Sequence[Group], runner: Runner) -> dict[int, Checked]:
        """The ranges that groups are checked against, by their leaders."""
        found = {group.leader: self._checked(group, runner) for group in groups}
        alike: dict[object, list[Group]] = {}
        for group in groups:
            aligned = group.size == 1 or (self.is_aligned(group) and group.low % group.size == 0)
            if group.index is not None and group.low >= 0 and aligned:
                alike.setdefault(group.index, []).append(group)
        for beside in alike.values():
            rooms = [self._room(found[group.leader], group.low) for group in beside]
            room = rooms[0]
            for other in rooms[1:]:
                room = self.b.intrinsic("umin", "i64", room, other)
            for group in beside:
                found[group.leader] = replace(found[group.leader], beside=beside, room=room)
        return found

    def _checked(self, group: Group, runner: Runner) -> Checked:
        b, known, limit = self.b, self.bounds(group), self.limit(group)
        root = "0" if group.root is None else runner.registers.take(group.root)
        host = b.value(f"add i64 {known.low}, {known.delta}")
        from_root = b.value(f"sub i64 {root}, {known.low}")
        aligned = self.is_aligned(group)
        if aligned:
            limit = b.value(f"shl i64 {limit}, {group.size.bit_length() - 1}")
        return Checked(known.low, host, limit, root, from_root, aligned)

    def _room(self, known: Checked, low: int) -> str:
        """How many bytes may be added to the root of a group, which begins `low` bytes behind that."""
        start = self.b.value(f"add i64 {known.from_root}, {low}")
        return self.b.intrinsic("usub.sat", "i64", known.limit, start)

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
