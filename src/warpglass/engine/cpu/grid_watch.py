"""Watches a cooperative grid for blocks that wait at its barrier for others that never come.

Its blocks take turns on one thread. When every block that has not ended waits at the barrier of the grid, or
at one of its own for a thread that does, and nobody has come to the former in a whole turn, nobody will.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...codegen.context import DONE, LEFT
from ...program import Program
from .address_space import grid_counter
from .worker import Worker


class GridWatch:
    """Looks at a grid's workers between turns; `stuck` are those that wait in vain, by block."""

    whole = "grid"

    def __init__(self, yields: Mapping[int, int], program: Program, workers: Sequence[Worker]):
        """`yields` has the loop's header for each state of a warp that lets others run."""
        self.stuck: Mapping[int, Worker] = {}
        self._workers = workers
        self._elsewhere = {state for state, header in yields.items() if header not in program.grid_waits}
        self._waiting = set(yields) - self._elsewhere
        self._counter: bytes | None = None  # at the last look
        self._somebody_came = True

    def look(self) -> None:
        """Note whether a block has come to the barrier; after each one's run, since two barriers add to 0."""
        before, self._counter = self._counter, grid_counter()
        self._somebody_came |= before != self._counter

    def finds_stuck(self) -> bool:
        """Whether nobody can go on; to be asked before every turn."""
        came, self._somebody_came = self._somebody_came, False
        if came:
            return False
        left = {block: worker for block, worker in enumerate(self._workers) if worker.code == LEFT}
        if left and all(map(self._waits, left.values())):
            self.stuck = left
        return bool(self.stuck)

    def _waits(self, worker: Worker) -> bool:
        states = {state for state in worker.states if state != DONE}
        return states.isdisjoint(self._elsewhere) and not states.isdisjoint(self._waiting)
