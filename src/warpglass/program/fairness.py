"""Loops that wait for another thread: spin locks, flags, look-back over earlier blocks, grid barriers.

Lanes always run lowest block first, which starves a lane that has left such a loop with the lock in its hand
while others spin in it. So loops in which an atomic or volatile access decides how long lanes stay are found
here and treated fairly: their lanes take turns with all others of the warp on the backward jump, and after a
number of turns the warp lets the other warps run. It decides that if the branch by which lanes leave depends
on what the access returned: by what is computed from it, by what is written or stored where only some lanes
come because of it, and by loads of that. A loop over edges that stores where a minimum has become less ends
whatever the others do.

A loop that looks at one and the same place outside of shared memory until somebody changes it may wait for a
thread of a block that has not even begun, as in grid barriers made by hand. A loop that makes its own way,
such as a compare-and-swap that is tried again with what it has returned, does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from .blocks import Block, computed_from, loops_of
from .decode import Step
from .flow_graph import control_dependents
from .pointers import MEMORY, Base, find_bases


def find_fair(blocks: tuple[Block, ...], types: Mapping[str, str]) -> frozenset[int]:
    """The headers of loops that may wait for other threads; `types` are the registers'."""
    return _Waits(blocks, types).headers()


def find_block_waits(
    blocks: tuple[Block, ...], types: Mapping[str, str], live: tuple[frozenset[str], ...]
) -> frozenset[int]:
    """The headers of loops that may wait for threads of other blocks of the grid; `live` is Program's."""
    return _Waits(blocks, types).headers(live)


def find_cluster_waits(blocks: tuple[Block, ...]) -> frozenset[int]:
    """The headers of loops that wait for the barrier of the cluster."""
    return frozenset(
        header
        for header, body in loops_of(blocks).items()
        if any(step.match.row.operation == "cluster wait" for index in body for step in blocks[index].steps)
        and len(body) == 1
    )


class _Waits:
    """Looks at the loops of one program."""

    def __init__(self, blocks: tuple[Block, ...], types: Mapping[str, str]):
        self._blocks = blocks
        self._types = types

    def headers(self, live: tuple[frozenset[str], ...] | None = None) -> frozenset[int]:
        """The headers of the loops that wait, for threads of other blocks if `live` is given."""
        loops = loops_of(self._blocks)
        carried = (lambda header: None) if live is None else live.__getitem__
        return frozenset(
            header for header, body in loops.items() if self._waits(header, body, carried(header))
        )

    @cached_property
    def _bases(self) -> Mapping[int, frozenset[Base]]:
        return find_bases(self._blocks, self._types, frozenset())

    def _waits(self, header: int, body: set[int], carried: frozenset[str] | None) -> bool:
        """Whether how long lanes stay in a loop depends on an access that other threads may change.

        With the registers that its turns begin with, only accesses count that all its turns make at the same
        place and with the same operands, and not those of shared memory.
        """
        steps = [step for index in body for step in self._blocks[index].steps]
        polls = [step for step in steps if step.match.row.waits]
        if carried is not None and polls:
            written = {name for step in steps for name in step.writes}
            answers = {name for step in polls for name in step.writes}
            changing = computed_from(steps, written & carried | answers)
            polls = [s for s in polls if s.match.state_space != "shared" and changing.isdisjoint(s.reads)]
        told = self._told(header, body, {name for step in polls for name in step.writes})
        return any(
            self._blocks[index].splits in told and not body.issuperset(self._blocks[index].successors)
            for index in body
        )

    def _told(self, header: int, body: set[int], answers: set[str]) -> set[str]:
        """The registers that depend on some in a loop: by computation, by branches, by memory."""
        blocks = self._blocks
        steps = [step for index in body for step in blocks[index].steps]
        successors = {index: blocks[index].successors for index in body}
        told, before = computed_from(steps, answers), set[str]()
        while told != before:
            before = told
            branches = {index for index in body if blocks[index].splits in told}
            chosen = control_dependents(successors, header, branches) if branches else set[int]()
            found = {name for index in chosen for step in blocks[index].steps for name in step.writes}
            changed = frozenset[Base]().union(
                *(
                    self._reached(step)
                    for index in body
                    for step in blocks[index].steps
                    if _stores(step) and (index in chosen or not told.isdisjoint(step.reads))
                )
            )
            if changed:
                found |= {name for s in steps if self._may_see(s, changed) for name in s.writes}
            told = computed_from(steps, told | found)
        return told

    def _reached(self, step: Step) -> frozenset[Base]:
        return self._bases.get(step.number, frozenset([MEMORY]))

    def _may_see(self, step: Step, changed: frozenset[Base]) -> bool:
        """Whether a step may load what has one of some bases."""
        own = self._bases.get(step.number)
        return own is not None and (MEMORY in own | changed or not own.isdisjoint(changed))


def _stores(step: Step) -> bool:
    return step.match.row.is_atomic or (step.match.row.access is not None and not step.writes)
