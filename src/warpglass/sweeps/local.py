"""Cells on a pool of processes of this machine: one that hangs or crashes ends its own process only."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, TimeoutError, wait
from multiprocessing.connection import wait as wait_for
from typing import Any

from pebble import ProcessExpired, ProcessPool

from ..host.budget import compile_timeout
from ..host.cores import core_count
from .cell import Cell
from .work import ENDED, FAILED, LOST, Outcome, do

_AHEAD = 4  # cells that are handed to the pool for each of its workers
_THREADS = "WARPGLASS_THREADS"


def on_processes(cells: Iterable[Cell], workers: int) -> Generator[tuple[Cell, Outcome]]:
    """Do all cells, `workers` at a time, and give each with its outcome when it is there."""
    todo = iter(cells)
    under_way: dict[Future[Any], Cell] = {}
    threads = max(1, core_count() // workers)
    pool = ProcessPool(
        workers, initializer=_begin, initargs=(threads,), context=multiprocessing.get_context("spawn")
    )
    try:
        while True:
            while len(under_way) < _AHEAD * workers and (cell := next(todo, None)) is not None:
                under_way[pool.schedule(do, args=(cell,), timeout=longest(cell))] = cell
            if not under_way:
                return
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                cell = under_way.pop(future)
                yield cell, _outcome(cell, future)
    finally:
        pool.stop()
        pool.join(timeout=10)


def longest(cell: Cell) -> float:
    """Seconds after which a cell is ended from outside: all its launches and compilations in full."""
    launches = len(cell.do) * 2 + cell.repeat
    return launches * cell.timeout + len(cell.do) * compile_timeout()


def _begin(threads: int) -> None:
    """Prepare a worker: its share of the cores, its output nowhere, its end with its parent's."""
    os.environ.setdefault(_THREADS, str(threads))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # what kernels print
    os.close(nowhere)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait_for([sentinel])
    os._exit(1)


def _outcome(cell: Cell, future: Future[Any]) -> Outcome:
    try:
        return future.result()
    except TimeoutError:
        return Outcome(cell.key, ENDED, text=f"ended after {longest(cell):.6g} s", seconds=longest(cell))
    except (ProcessExpired, CancelledError) as problem:
        code = getattr(problem, "exitcode", None)
        said = f"by signal {-code}" if isinstance(code, int) and code < 0 else f"with status {code}"
        return Outcome(cell.key, LOST, text=f"the process that did it ended {said}")
    except Exception as problem:  # a defect of ours in one cell must not end the others
        return Outcome(cell.key, FAILED, text=f"{type(problem).__name__}: {problem}")
