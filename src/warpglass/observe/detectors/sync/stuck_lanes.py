"""sync-mask: deadlocks of a warp whose lanes wait for others that their mask names and that go another way.

Belongs here: telling such a deadlock from one that would end if a barrier opened: from where the others wait,
no way forward leads to the instruction with the mask.
"""

from __future__ import annotations

from dataclasses import replace

from ....codegen.context import SLOT
from ....engine.cpu.worker import Worker
from ....engine.launch.backend import unflatten
from ....program import Program, Step
from ....records.check import Finding, Place
from ..detector import Watched
from ..instrumentation import inlining
from .departures import blocks_from

# What mends a mask that names lanes that do not come.
NAME_WHO_COMES = (
    "name only the lanes that come here (compute the mask before the branch with __ballot_sync), or let all "
    "come: take the instruction out of the branch, give a loop as many turns for all"
)


def blame_mask(deadlock: Finding, watched: Watched) -> Finding:
    """A deadlock as the sync-mask finding that it is, or itself if no mask is to blame."""
    scene = watched.begun.scene
    worker = next((one for one in watched.begun.workers if _block(one, watched) == deadlock.block), None)
    if worker is None:
        return deadlock
    warp = int(worker.context[SLOT["fault_warp"]])
    steps, program = scene.prepared.steps, scene.prepared.program
    waiting = {number: (steps[number], mask) for number, mask in worker.waiting(warp).items()}
    for number, (step, mask) in waiting.items():
        others = [other for key, (other, _) in waiting.items() if key != number]
        if step.match.member_mask is None or not others or any(_leads(program, one, step) for one in others):
            continue
        lane = (mask & -mask).bit_length() - 1
        return replace(
            deadlock,
            kind="sync-mask",
            hint=NAME_WHO_COMES,
            source=_place(step) or deadlock.source,
            other_source=_place(others[0]),
            thread=unflatten(32 * warp + lane, scene.launch.block),
            warp=warp,
            lane=lane,
        )
    return deadlock


def _block(worker: Worker, watched: Watched) -> tuple[int, int, int]:
    return unflatten(int(worker.context[SLOT["fault_block"]]), watched.begun.scene.launch.grid)


def _leads(program: Program, start: Step, end: Step) -> bool:
    """Whether threads may come from one step to another without another turn of a loop."""
    blocks = program.blocks
    first, last = (
        next(index for index, block in enumerate(blocks) if one in block.all_steps) for one in (start, end)
    )
    if first == last:
        return start.number < end.number
    return last in blocks_from(blocks, first, forwards=True)


def _place(step: Step) -> Place | None:
    found = inlining(step)
    return Place(found[0].file, found[0].line) if found else None
