"""Blocks that wait for each other, run in turns by machine code.

A block whose warps only wait is left for the next. All blocks of a cooperative grid are under way at once. Of
other kernels in which a block may wait for one that has not begun (program/fairness.py), a block begins where
those under way have waited for some turns, until there are as many as the modelled GPU could hold. A thread
that came back to Python between two blocks would wait for other threads there, longer than most blocks run.

Belongs here: the turns. With a single thread Python takes those of a cooperative grid, since it then looks
for deadlocks (grid_watch.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from ...codegen import MachineCode
from ...codegen.context import DEADLOCK, LEFT, OK, RETIRED, SLOT
from .grid_watch import GridWatch
from .own_code import own_code
from .tiers import Tiers
from .worker import Worker

# The words: the code, sched_yield, how many blocks, how many turns; then each block's context and what it has
# returned. Runs blocks that are left, in turns, until none is (0), the turns are over (1), or one has ended
# otherwise (-1).
_TURNS = f"""
define i64 @run(ptr %words) #0 {{
entry:
  %code.p = load ptr, ptr %words
  %yield.p = getelementptr ptr, ptr %words, i64 1
  %yield = load ptr, ptr %yield.p
  %count.p = getelementptr i64, ptr %words, i64 2
  %count = load i64, ptr %count.p
  %turns.p = getelementptr i64, ptr %words, i64 3
  %turns = load i64, ptr %turns.p
  %pairs = getelementptr i64, ptr %words, i64 4
  br label %turn
turn:
  %turns.left = phi i64 [ %turns, %entry ], [ %turns.next, %wait ]
  br label %block
block:
  %i = phi i64 [ 0, %turn ], [ %i.next, %next ]
  %left = phi i64 [ 0, %turn ], [ %left.next, %next ]
  %pair = getelementptr [2 x i64], ptr %pairs, i64 %i
  %state.p = getelementptr i64, ptr %pair, i64 1
  %state = load i64, ptr %state.p
  %runs = icmp eq i64 %state, {LEFT}
  br i1 %runs, label %run, label %next
run:
  %context = load ptr, ptr %pair
  %code = call i64 %code.p(ptr %context)
  store i64 %code, ptr %state.p
  %was.left = icmp eq i64 %code, {LEFT}
  %was.done = icmp eq i64 %code, {OK}
  %usual = or i1 %was.left, %was.done
  %one = zext i1 %was.left to i64
  br i1 %usual, label %next, label %stop
next:
  %more.left = phi i64 [ 0, %block ], [ %one, %run ]
  %left.next = add i64 %left, %more.left
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %count
  br i1 %more, label %block, label %turned
turned:
  %none = icmp eq i64 %left.next, 0
  br i1 %none, label %end, label %wait
wait:
  %ignored = call i32 %yield()
  %turns.next = sub i64 %turns.left, 1
  %goes.on = icmp sgt i64 %turns.next, 0
  br i1 %goes.on, label %turn, label %over
over:
  ret i64 1
end:
  ret i64 0
stop:
  ret i64 -1
}}
"""


# Turns in which blocks wait before another begins.
_PATIENCE = 16


def run_workers(
    tiers: Tiers, shares: Sequence[Sequence[Worker]], watch: GridWatch | None, number: int
) -> int:
    """Run one thread's workers, in turns while they leave blocks that only yield; the first bad code."""
    workers = shares[number]
    if watch is None and len(workers) > 1:
        return _run_in_turns(tiers, workers)
    while workers:
        if watch is not None and watch.finds_stuck():
            return DEADLOCK
        for worker in workers:
            worker.code = tiers.run(worker)
            if watch is not None:
                watch.look()
            if worker.code < 0:
                return worker.code
        workers = [worker for worker in workers if worker.code == LEFT]
    return OK


def run_waiting(
    tiers: Tiers,
    workers: Sequence[Worker],
    take: Callable[[], Worker | None],
    gives_up: Callable[[], bool],
    number: int,
) -> int:
    """Run blocks that may wait for later ones, on one thread, until none is left; the first bad code.

    The thread begins with the worker of its number; `take` gives another, None if there are enough or no
    block is left. All blocks that are left wait in vain once the launch `gives_up`.
    """
    worker = workers[number]
    worker.code = tiers.run(worker)
    waiting = [worker] if worker.code == LEFT else []
    while waiting:
        code = _run_in_turns(tiers, waiting, _PATIENCE)
        if code < 0:
            return code
        waiting = [one for one in waiting if one.code == LEFT]
        for _ in range(len(waiting)):
            further = take()
            if further is None:
                break
            waiting.append(further)
        if waiting and gives_up():
            return DEADLOCK
    return min(worker.code, OK)


def _run_in_turns(tiers: Tiers, workers: Sequence[Worker], most: int = 1 << 62) -> int:
    """The same by machine code, without a watch; LEFT if that takes more turns than `most`."""
    turns = _turns()  # the names keep machine code alive
    words = np.zeros(4 + 2 * len(workers), np.int64)
    words[1:4] = workers[0].context[SLOT["give_way"]], len(workers), most
    words[4::2], words[5::2] = [worker.address for worker in workers], LEFT
    while True:
        machine = tiers.newest()
        words[0] = machine.address
        ended = turns.run(words.ctypes.data)
        for worker, code in zip(workers, words[5::2].tolist(), strict=True):
            worker.code = code
        if ended >= 0:
            return LEFT if ended else OK
        stopped = next(worker for worker in workers if worker.code not in (LEFT, OK))
        if stopped.code != RETIRED:
            return stopped.code
        stopped.keep_code()  # better code takes over from this block on
        words[5 + 2 * workers.index(stopped)] = LEFT


@cache
def _turns() -> MachineCode:
    return MachineCode(own_code(_TURNS))
