"""Clusters: blocks that wait for each other and reach each other's shared memory.

All blocks of a cluster are under way at once, a worker for each, on one thread that runs them in turns
until all have ended; the thread then takes the next cluster. Here are the places of their shared memory in
each other's range tables, a window for each rank, and the barrier of the cluster; isa/cluster.py says what
instructions do with them.

The barrier opens when everybody who is left waits at it, or when all threads of the warps that are left have
arrived: some may yet be busy with something else before they wait.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from ...codegen.context import (
    DEADLOCK,
    DONE,
    GENERIC_ONLY,
    LEFT,
    OK,
    RANGE_WORDS,
    READ,
    SHARED_WINDOW,
    SLOT,
    WRITE,
)
from ...isa.lanes import RANK_SHIFT
from ...program import Program
from ..launch.backend import Dim3, unflatten
from .tiers import Tiers
from .worker import Worker

_PHASE, _ARRIVED = 0, 1


def blocks_by_cluster(grid: Dim3, cluster: Dim3) -> np.ndarray:
    """The blocks of a grid, by number: int64, a row for each cluster, in which they stand by rank."""
    rows: list[list[int]] = []
    counts = tuple(extent // step for extent, step in zip(grid, cluster, strict=True))
    ranks = [unflatten(rank, cluster) for rank in range(prod(cluster))]
    for number in range(prod(counts)):
        first = unflatten(number, (counts[0], counts[1], counts[2]))
        x, y, z = (place * step for place, step in zip(first, cluster, strict=True))
        rows.append([x + dx + grid[0] * (y + dy + grid[1] * (z + dz)) for dx, dy, dz in ranks])
    return np.array(rows, np.int64)


def peer_windows(workers: Sequence[Worker], shared: int) -> list[int]:
    """The range table's entries for the shared memory of a cluster's blocks, `shared` bytes each."""
    rows: list[int] = []
    for rank, worker in enumerate(workers):
        base = SHARED_WINDOW + ((rank + 1) << RANK_SHIFT)
        rows += base, shared, worker.reserve_shared(shared) - base, READ | WRITE | GENERIC_ONLY
    assert len(rows) == RANGE_WORDS * len(workers)
    return rows


class ClusterRun:
    """One launch's clusters; its threads run them side by side. `stuck` are blocks that wait in vain."""

    whole = "cluster"

    def __init__(
        self,
        workers: Sequence[Worker],
        places: np.ndarray,
        turns: Sequence[int],
        yields: Mapping[int, int],
        program: Program,
    ):
        """`workers` by cluster under way and rank; `places` has a row of the blocks' places for each cluster.

        `turns` are a cluster's ranks in the order of their turns. `yields` has the loop's header for each
        state of a warp that lets others run.
        """
        size = places.shape[1]
        self._groups = [workers[first : first + size] for first in range(0, len(workers), size)]
        self._places = places
        self._turns = turns
        self._waits = {state for state, header in yields.items() if header in program.cluster_waits}
        self._yields = frozenset(yields)
        self._next = itertools.count()
        self._lock = threading.Lock()
        self.stuck: Mapping[int, Worker] = {}
        self._barriers = np.zeros((len(self._groups), 2), np.int32)
        for group, barrier in zip(self._groups, self._barriers, strict=True):
            for worker in group:
                worker.context[SLOT["cluster"]] = barrier.ctypes.data

    def run(self, tiers: Tiers, number: int) -> int:
        """Run clusters on one thread until none is left; the first bad code."""
        group, barrier = self._groups[number], self._barriers[number]
        while True:
            with self._lock:
                cluster = next(self._next)
            if cluster >= len(self._places):
                return OK
            barrier[:] = 0
            for worker, place in zip(group, self._places[cluster].tolist(), strict=True):
                worker.take_block(place)
            code = self._run_one(tiers, group, barrier)
            if code != OK:
                return code

    def _run_one(self, tiers: Tiers, group: Sequence[Worker], barrier: np.ndarray) -> int:
        left = [group[rank] for rank in self._turns]
        while left:
            before = int(barrier[_PHASE]), int(barrier[_ARRIVED])
            for worker in left:
                worker.code = tiers.run(worker)
                if worker.code < 0:
                    return worker.code
            left = [worker for worker in left if worker.code == LEFT]
            states = [state for worker in left for state in worker.states if state != DONE]
            if not left:
                break
            if self._waits.issuperset(states) or self._all_came(left, barrier):
                barrier[_PHASE] += 1
                barrier[_ARRIVED] = 0
            elif before == tuple(barrier.tolist()) and self._is_stuck(states):
                self.stuck = {int(worker.context[SLOT["left_block"]]): worker for worker in left}
                return DEADLOCK
        return OK

    @staticmethod
    def _all_came(left: Sequence[Worker], barrier: np.ndarray) -> bool:
        """Whether as many threads have arrived as there are in the warps that have not ended."""
        return int(barrier[_ARRIVED]) >= sum(worker.threads_left() for worker in left)

    def _is_stuck(self, states: Sequence[int]) -> bool:
        """Whether nobody can go on: some wait at the cluster's barrier, all others at one of their block."""
        others = [state for state in states if state not in self._waits]
        return len(others) < len(states) and self._yields.isdisjoint(others)
