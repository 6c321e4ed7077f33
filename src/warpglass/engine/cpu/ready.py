"""Workers that are filled in for a launch, one for each of its threads, and how each runs.

Whoever runs one puts its words to what they were when it was filled in, so launches that come again need not
fill it in.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...codegen.context import OK, WORDS
from .crew import Native
from .tiers import Tiers
from .worker import Worker


class Ready:
    """The workers of a launch by a plan, as they are now."""

    def __init__(self, plan: object, tiers: Tiers, workers: list[Worker]):
        self.plan = plan
        self.workers = workers
        self._tiers = tiers
        table = np.array([(worker.address, worker.keep_filling()) for worker in workers], np.int64)

        def go_on(number: int, code: int) -> int:  # no method: this would keep itself alive
            return tiers.go_on(workers[number], code)

        self.native = Native(tiers.newest, table.ctypes.data, len(WORDS), go_on, table)

    def run(self, number: int) -> int:
        """Run a worker's blocks; returns what it has ended with."""
        worker = self.workers[number]
        worker.refill()
        machine = self._tiers.newest()  # the name keeps it alive
        code = machine.run(worker.address)
        worker.code = code = code if code == OK else self._tiers.go_on(worker, code)
        return code

    def note(self, codes: Sequence[int]) -> None:
        """Note what the workers have ended with."""
        for worker, code in zip(self.workers, codes, strict=True):
            worker.code = code
