"""The blocks of a cooperative grid that one thread has, run in turns by machine code.

All blocks of the grid are under way at once, and one that waits for others is left for the next. A thread
that came back to Python between two blocks would wait for other threads there, longer than most blocks run.

Belongs here: the turns. With a single thread Python takes them, since it then looks for deadlocks
(grid_watch.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ...codegen import MachineCode
from ...codegen.context import DEADLOCK, LEFT, OK, RETIRED, SLOT
from ...codegen.machine.jit import compile_ir, load_object
from .grid_watch import GridWatch
from .tiers import Tiers
from .worker import Worker

# The words: the code, sched_yield, how many blocks; then each block's context and what it has returned.
# Runs the blocks that are left, in turns, until none is (0) or one has ended otherwise (-1).
_TURNS = f"""
define i64 @run(ptr %words) #0 {{
entry:
  %code.p = load ptr, ptr %words
  %yield.p = getelementptr ptr, ptr %words, i64 1
  %yield = load ptr, ptr %yield.p
  %count.p = getelementptr i64, ptr %words, i64 2
  %count = load i64, ptr %count.p
  %pairs = getelementptr i64, ptr %words, i64 3
  br label %turn
turn:
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
  br label %turn
end:
  ret i64 0
stop:
  ret i64 -1
}}
"""


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


def _run_in_turns(tiers: Tiers, workers: Sequence[Worker]) -> int:
    """The same by machine code, without a watch."""
    turns = _turns()  # the names keep machine code alive
    words = np.zeros(3 + 2 * len(workers), np.int64)
    words[1], words[2] = workers[0].context[SLOT["give_way"]], len(workers)
    words[3::2], words[4::2] = [worker.address for worker in workers], LEFT
    while True:
        machine = tiers.newest()
        words[0] = machine.address
        ended = turns.run(words.ctypes.data)
        for worker, code in zip(workers, words[4::2].tolist(), strict=True):
            worker.code = code
        if ended == 0:
            return OK
        stopped = next(worker for worker in workers if worker.code not in (LEFT, OK))
        if stopped.code != RETIRED:
            return stopped.code
        stopped.keep_code()  # better code takes over from this block on
        words[4 + 2 * workers.index(stopped)] = LEFT


@cache
def _turns() -> MachineCode:
    return load_object(compile_ir(_TURNS, quick=True))
