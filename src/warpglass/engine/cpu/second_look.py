"""A second look at a block that has faulted, warp by warp, where others than a warp's lanes ran together.

Of several warps a later one may fault before an earlier one has come to its fault, and rows of threads come
in an order of their own (codegen/warp_fusion.py). So that the thread to blame is the one that warps one by
one would name, small code runs the block again; a launch that does not fault pays nothing for that. Belongs
here: whether a second run goes the way of the first, and the run.

If the kernel loads nothing that it stores to, the second run stores what the first did, and what is missing
of what comes before the fault, but has other memory for what atomic operations change. Where arrays are
changed in place, it has other memory for all that is stored to, whatever that holds, if that decides neither
which way threads go nor where they access memory. Else, and if nothing faults now since threads race, the
fault is the first run's. What later warps of those that ran together have stored stays, as what later blocks
have stored on other threads does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...codegen.context import FAULT, OK, RANGE_WORDS, SLOT
from ...isa.table import MemoryAccess
from ...program import Program, Step
from ...program.definitions import Definitions, Place
from ...program.pointers import OWN, Base
from .faults import Scene, faulty_block
from .prepared import Executable
from .reached import Reached
from .thread_pool import POOL
from .worker import Worker, aligned

# Seconds that a second run may take.
_PATIENCE = 10.0
# Accesses that do the same again; no thread sees what atomic operations change, but they would do it twice.
_PLAIN = ("load", "store")


def look_again(scene: Scene, contexts: Sequence[np.ndarray]) -> tuple[Scene, np.ndarray]:
    """The first fault, in block order, of those that workers recorded, as warps one by one come to it.

    Returns the words of the worker that did, and the scene with its code. The pool's lock is held.
    """
    context = min(contexts, key=lambda c: int(c[SLOT["fault_block"]]))
    shape = scene.executable.shape
    if not shape.regrouped:
        return scene, context
    replaced = _replaced(scene)
    if replaced is None:
        return scene, context
    again, worker = _run_again(scene, faulty_block(context, shape), replaced)
    return (again, worker.context) if worker.code == FAULT else (scene, context)


def _run_again(scene: Scene, block: int, replaced: set[int]) -> tuple[Scene, Worker]:
    """Run a block warp by warp, with other memory for some rows of the table of ranges."""
    executable = Executable(scene.prepared, scene.executable.shape.unfused, None, None, small=True)
    worker, control = executable.apart()
    ranges = list(scene.ranges)
    others = {row: aligned(ranges[row * RANGE_WORDS + 1]) for row in replaced}
    for row, memory in others.items():
        ranges[row * RANGE_WORDS + 2] = memory.ctypes.data - ranges[row * RANGE_WORDS]
    launch = scene.launch
    worker.fill(launch.grid, block + 1, 1, scene.laid.parameters, scene.shared, ranges, scene.system.serve)
    control.clear(block)

    def run(_: int) -> int:
        worker.code = executable.tiers.run(worker)
        return OK

    POOL.run(run, 1, control.stop, min(launch.timeout, _PATIENCE), brief=False)
    return replace(scene, executable=executable), worker


def _replaced(scene: Scene) -> set[int] | None:
    """The rows of the table of ranges that a second run needs other memory for; None if it goes astray."""
    program, bases, reached = scene.prepared.program, scene.prepared.bases, Reached(scene)
    accesses = {
        step.number: access
        for block in program.blocks
        for step in block.steps
        if (access := _access(step)) is not None
    }
    stored, known = reached.rows({number for number, access in accesses.items() if access.writes})
    if not known:
        return None
    changing = set[int]()
    for number, access in accesses.items():
        rows, known = reached.rows({number})
        if access.kind == "load" and not (known and rows.isdisjoint(stored)):
            changing.add(number)
    if not changing:
        return reached.rows({number for number, access in accesses.items() if access.kind not in _PLAIN})[0]
    return None if _decide(program, bases, changing) else stored


def _decide(program: Program, bases: Mapping[int, frozenset[Base]], loads: set[int]) -> bool:
    """Whether what some steps load decides which way threads go, or where they access memory."""
    definitions = Definitions(program.blocks)
    work: list[Place] = []
    own_stores: list[Place] = []  # to the block's shared memory and the threads' local memory
    for index, block in enumerate(program.blocks):
        for name in block.read_at_end:
            work += definitions.reaching((index, len(block.steps)), name)
        for position, step in enumerate(block.steps):
            place = index, position
            guard, access = step.instruction.guard, _access(step)
            if guard is not None:
                work += definitions.reaching(place, guard.register)
            if access is not None and step.address_register is not None:
                work += definitions.reaching(place, step.address_register)
            if access is not None and access.writes and OWN in bases[step.number]:
                own_stores.append(place)
    seen: set[Place] = set()
    while work:
        place = work.pop()
        if place in seen:
            continue
        seen.add(place)
        step = program.blocks[place[0]].steps[place[1]]
        if step.number in loads:
            return True
        # What an access reads, but for addresses, is what it stores.
        for name in step.reads:
            work += definitions.reaching(place, name)
        if _access(step) is not None and OWN in bases[step.number]:
            work += own_stores
    return False


def _access(step: Step) -> MemoryAccess | None:
    """The access of a step that loads, stores or, by an atomic operation, does both."""
    return step.match.access if step.match.row.is_atomic else step.match.load_or_store
