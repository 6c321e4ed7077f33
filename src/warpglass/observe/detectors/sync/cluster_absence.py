"""Threads that miss a barrier of their cluster which others come to.

The hardware waits for the threads of the cluster that have not ended, so it does without those that go past a
barrier to the kernel's end; the programming guide asks for all threads of the group. An arrival that says
`.aligned` must be made by all lanes of a warp.

Blocks come to their ends one after the other, so all is judged when those of a cluster have ended: who has
arrived less often than others, and has not returned, has either taken a departure (departures.py), or has
come to a later barrier while others waited at an earlier one. Threads may arrive at different places, as
specialised warps do, as long as all arrive equally often.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....codegen import Emission, WorkerWords
from ....codegen.context import SLOT
from ....codegen.values.value import Value
from ....program import Block, Program, Step
from .. import layout
from ..detector import Detector, Watched
from ..diagnostics.recorded import ERROR, WARNING, Recorded, Words
from ..emit import where
from ..native import run
from .cluster_arrivals import (
    OUT_OF_STEP,
    PASSED_BY_LANES,
    come_to_cluster,
    judge_cluster,
    leave_for_good,
    tell_peers,
)
from .departures import departed, find_departures, leading_to

# The programming guide on cooperative groups, in short.
_GUIDE = "a group's sync() is allowed in conditional code only if all threads of the group come to it"
_HINT = (
    "take cluster.sync() out of the branch or loop, so that all threads of all blocks of the cluster come to "
    "it; keep only the work under the condition"
)


# ------------------------------------------------------------------------------------ events
def absence(found: Recorded) -> Words:
    """What is said of a barrier of the cluster that threads miss."""
    assert found.other is not None, "a barrier is missed by somebody"
    one, other = found.one, found.other
    comes = f"{one} of warp {one.warp} comes to the barrier of the cluster {one.where}"
    elsewhere = other.where.removeprefix("at ")
    if found.variant == OUT_OF_STEP:
        return Words(f"{comes} while {other} waits for the cluster at another ({elsewhere})", _HINT, ERROR)
    if one.block != other.block or one.warp != other.warp:
        absent = f"{found.lanes} of warp {other.warp} of block {other.block}"
    else:
        absent = f"{found.lanes} of its warp"
    passed = f"{comes} without {absent}, which take a way past it ({elsewhere})"
    if found.variant == PASSED_BY_LANES:
        return Words(passed, _HINT, ERROR)
    return Words(f"{passed}: {_GUIDE}", _HINT, WARNING)


class ClusterAbsence(Detector):
    """Barriers of the cluster that not all of its threads come to; the words are in barriers.py."""

    def prepare(self, program: Program, words: WorkerWords) -> None:
        arrivals = _arrivals(program.blocks)
        first = {index: steps[0] for index, steps in arrivals.items()}
        self._departures = find_departures(program.blocks, first)
        ahead = leading_to(program.blocks, first)
        self._last = {
            steps[-1].number
            for index, steps in arrivals.items()
            if ahead.isdisjoint(program.blocks[index].successors)
        }

    def begin(self, watched: Watched) -> None:
        for rank, state in enumerate(watched.memory.states if self.code.program.clustered else ()):
            row = int(state[layout.PEERS]) + 8 * layout.PEER_WORDS * rank
            run(tell_peers, row + 8 * layout.PEER_STATE, state.ctypes.data)

    def finish(self, watched: Watched) -> None:
        if self.code.program.clustered:
            run(judge_cluster, watched.memory.states[0].ctypes.data)

    def go(self, at: Emission, source: int, target: int, read: Callable[[str], Value]) -> None:
        departure = self._departures.get((source, target))
        if departure is not None:
            b, code = at.builder, self.code
            gone = departed(at, departure, read)
            with where(b, b.value(f"icmp ne i32 {gone}, 0")):
                place = str(code.place_of(departure.step))
                code.call(at, leave_for_good, code.warp(at), code.wide(at, gone), place)

    def step(self, at: Emission, step: Step, sources: Sequence[Any]) -> None:
        if step.match.row.operation == "cluster arrival":
            b, code = at.builder, self.code
            barrier = b.load("ptr", b.offset("%context", 8 * SLOT["cluster"]))
            phase = code.wide(at, b.load("i32", barrier))
            last = str(int(step.number in self._last))
            aligned = str(int("aligned" in step.instruction.modifiers))
            place = str(code.place_of(step))
            code.call(at, come_to_cluster, *code.who(at), phase, place, last, aligned)


def _arrivals(blocks: Sequence[Block]) -> dict[int, list[Step]]:
    """The arrivals at the barrier of the cluster, by block of the program."""
    found: dict[int, list[Step]] = {}
    for index, block in enumerate(blocks):
        for step in block.steps:
            if step.match.row.operation == "cluster arrival":
                found.setdefault(index, []).append(step)
    return found
