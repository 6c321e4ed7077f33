"""Launches that wait in vain: nothing of them changes any more, and nobody is left who could change it.

Blocks that may wait for others come back to Python every few turns (cooperative.py). Of a launch without a
time limit, a program's, all that it goes on from is looked at then every few seconds: the memory that it
reaches, and its blocks' registers, local and shared memory. While that stays the same, and no other launch is
at work, it makes no way. That is said once; and if the program itself waits for its end, the launch is given
up after a while, where a GPU would wait for ever.
"""

from __future__ import annotations

import ctypes
import math
import sys
import threading
import time
import zlib
from collections.abc import Sequence

from ...codegen.context import LEFT, RANGE_WORDS, SLOT
from ...errors import FaultPlace, KernelTimeout
from ..launch.backend import Launch, unflatten
from .faults import source_of_block
from .launch_plan import LaunchPlan
from .thread_pool import POOL
from .worker import Worker

EVERY = 5.0  # seconds between two looks
_SAID, _GIVEN_UP = 2, 12  # looks at which nothing has changed, until it is said, and until the launch ends
_MOST = 1 << 30  # bytes of memory up to which a look is worth its time
_SHARE = 20  # how many times as long as a look takes until the next


class StallWatch:
    """Looks after one launch, of whatever threads run it."""

    def __init__(self, plan: LaunchPlan, launch: Launch, workers: Sequence[Worker]):
        """`workers` may grow."""
        self.vain: FaultPlace | None = None  # where it has waited in vain, once it is given up
        self._plan, self._launch, self._workers = plan, launch, workers
        self._looks = launch.timeout == math.inf and sum(plan.ranges[1::RANGE_WORDS]) <= _MOST
        self._next = time.monotonic() + EVERY
        self._state, self._same = 0, 0
        self._lock = threading.Lock()

    def __enter__(self) -> StallWatch:
        _UNDER_WAY.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        _UNDER_WAY.discard(self)

    def gives_up(self) -> bool:
        """Whether the launch is to end; to be asked while all blocks of a thread wait."""
        if self.vain is not None:
            return True
        if not self._looks or time.monotonic() < self._next or not self._lock.acquire(blocking=False):
            return False
        began = time.monotonic()
        try:
            return self._look()
        finally:
            ended = time.monotonic()
            self._next = ended + max(EVERY, _SHARE * (ended - began))
            self._lock.release()

    def _look(self) -> bool:
        before, self._state = self._state, self._digest()
        self._same = self._same + 1 if self._state == before else 0
        waiting = [worker for worker in self._workers if worker.code == LEFT]
        if self._same < _SAID or not waiting or self._others_work():
            return False
        place, program_waits = self._place(waiting[0]), self._launch.alongside
        if self._same >= _GIVEN_UP and (program_waits is None or program_waits()):
            self.vain = place
            return True
        if self._same == _SAID:
            watched = bool(self._plan.executable.probes)
            end = "no kernel runs beside one that is watched" if watched else "a GPU would wait for ever"
            sys.stderr.write(
                f"warpglass: {_at(place)}{self._launch.compiled.name} has waited in this loop for "
                f"{EVERY * _SAID:g} s, and no work under way changes anything; {end}\n"
            )
        return False

    def _others_work(self) -> bool:
        """Whether another launch is under way that does not wait in vain."""
        if self._launch.alongside is not None and POOL.lock.locked():
            return True
        return any(other._same < _SAID for other in list(_UNDER_WAY))

    def _digest(self) -> int:
        """A number for all that the launch goes on from."""
        plan, found = self._plan, self._plan.executable.control.taken
        for worker in self._workers:
            for part in worker.memory():
                found = zlib.crc32(part.data, found)
        for place in range(0, len(plan.ranges), RANGE_WORDS):
            base, size, delta, _ = plan.ranges[place : place + RANGE_WORDS]
            if size:
                found = zlib.crc32((ctypes.c_char * size).from_address(base + delta), found)
        return found

    def _place(self, worker: Worker) -> FaultPlace:
        """The loop that a block waits in."""
        code = self._plan.executable.code
        header = next((code.yields[state] for state in worker.states if state in code.yields), None)
        known = header is not None
        file, line = source_of_block(self._plan.prepared, code, header) if known else (None, None)
        block = unflatten(int(worker.context[SLOT["left_block"]]), self._launch.grid)
        return FaultPlace("timeout", file, line, block)


def explain_stall(launch: Launch, place: FaultPlace, *, watched: bool) -> KernelTimeout:
    """The error for a launch that was given up where its blocks wait in vain; `watched` by an observer."""
    alone = " (no kernel runs beside one that is watched)" if watched else ""
    return KernelTimeout(
        f"{_at(place)}{launch.compiled.name} waited for {EVERY * _GIVEN_UP:g} s for what no work that is "
        f"under way does, and was given up{alone}; block {place.block} was in this loop "
        "(cudaErrorLaunchTimeout)",
        place,
    )


def _at(place: FaultPlace) -> str:
    return f"{place.file}:{place.line}: " if place.file else ""


_UNDER_WAY: set[StallWatch] = set()  # those of all launches of this process
