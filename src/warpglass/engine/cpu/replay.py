"""A launch made ready to run again and again by machine code alone, with nothing but its parameters changed.

Belongs here: which launches can be (short ones that wait for nothing and call nobody), their own buffers and
what to copy over them before each run. Who makes the runs is numba_device/shortcuts.py.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from math import inf, prod
from typing import Any

import numpy as np

from ...codegen import MachineCode
from ...codegen.context import DEADLOCK, FAULT, SLOT
from ...errors import LaunchError
from ..launch.backend import Launch
from ..launch.sticky import StickyState
from .address_space import Laid
from .faults import Scene, explain_deadlock, explain_fault
from .footprint import footprint
from .guard import hears_signals
from .heap import Heap
from .prepared import Executable, Prepared
from .second_look import look_again
from .system import System
from .thread_pool import POOL
from .worker import Control, Worker

# Steps of a warp, over all warps of the grid, up to which a launch is over sooner than a thread wakes up:
# about 20 us. What takes longer gains by more threads, and is worth waiting for in a way that Ctrl-C ends.
_SHORT = 10_000
# And up to which it is over within some milliseconds; where each access misses the caches, in half a second.
_SOON = 8_000_000
PATIENCE = 1.0  # seconds that a launch must be given for that
# Steps of a kernel: longer ones may need more stack than the launching thread has, 8 MiB by default. Quick
# code of 651 steps of a sorting network took 15 MiB.
_LONGEST = 200
_WARP = 8  # steps that take as long as to begin a warp, or a block
_SMALL = 1 << 18  # bytes of a worker
_SLICES = 8  # of the blocks of a kernel with loops


@dataclass(frozen=True, slots=True)
class Replay:
    """Buffers at fixed addresses, and their contents before each run."""

    code: MachineCode
    worker: Worker
    context: np.ndarray[Any, Any]
    control: int  # address
    control_words: np.ndarray[Any, Any]
    parameters: int  # address of the block of parameters
    blocks: int
    slice: int  # blocks after each of which the rest may be left to other threads
    stop: int  # the address of the word that ends it, if it may take long and there is Ctrl-C for that; or 0
    fixed: frozenset[int]  # offsets of parameters that are part of the code
    spend: Callable[[float], None]  # to be told the seconds that runs have taken
    explain: Callable[[int, Launch], LaunchError]  # the error for a bad code and the launch that it ended


def is_short(prepared: Prepared, launch: Launch) -> bool:
    """Whether a launch runs in microseconds, whatever its parameters, and never needs the host meanwhile.

    Its blocks run in order on one thread, so none waits for its turn.
    """
    return _steps(prepared, launch) <= _SHORT


def is_soon_over(prepared: Prepared, launch: Launch) -> bool:
    """Whether a launch runs, whatever its parameters, so briefly that nobody needs to interrupt it."""
    return _steps(prepared, launch) <= _SOON and launch.timeout >= PATIENCE


def _steps(prepared: Prepared, launch: Launch) -> float:
    """The most steps that the warps of a launch take, and what beginning them is worth; infinity if open."""
    if prepared.most_steps is None or prepared.most_steps > _LONGEST:
        return inf
    warps = prod(launch.grid) * -(-prod(launch.block) // 32)
    return warps * (_WARP + prepared.most_steps)


def make_replay(
    launch: Launch,
    prepared: Prepared,
    executable: Executable,
    laid: Laid,
    state: StickyState,
    heap: Heap,
) -> Replay | None:
    """A short launch with buffers of its own; None for what needs large ones."""
    shared = prepared.facts.shared.static + launch.shared
    if footprint(prepared.facts, executable.code, executable.shape, shared).each > _SMALL:
        return None
    worker, control = executable.apart()
    system = System(launch.grid, launch.block, heap)
    ranges = [*laid.low, *laid.with_variables(prepared.module.words), *laid.words, *heap.words()]
    blocks, short = prod(launch.grid), is_short(prepared, launch)
    slice_ = blocks if short else -(-blocks // _SLICES)
    worker.fill(launch.grid, blocks, slice_, laid.parameters, shared, ranges, system.serve)
    control.clear()

    def explain(code: int, launch: Launch) -> LaunchError:
        assert launch.resident is not None, "virtual devices make such launches"
        worker.code = code
        bound = launch.resident.bind(prepared)
        given = launch.resident.lay_out(), ranges, shared
        scene = Scene(launch, prepared, executable, bound, *given, system, heap)
        if code == DEADLOCK:
            error = explain_deadlock(scene, worker)
        else:
            assert code == FAULT, f"a short launch has ended with {code}"
            with POOL.lock:
                error = explain_fault(*look_again(scene, [worker.context]))
        state.note(error)
        return error

    return Replay(
        code=executable.tiers.newest(),
        worker=worker,
        context=worker.context.copy(),
        control=control.next,
        control_words=np.frombuffer(ctypes.string_at(control.next, Control.BYTES), np.int64),
        parameters=int(worker.context[SLOT["parameters"]]),
        blocks=blocks,
        slice=slice_,
        stop=control.stop_flag if not short and hears_signals() else 0,
        fixed=frozenset(offset for _, offset, _ in prepared.structural),
        spend=executable.tiers.add,
        explain=explain,
    )
