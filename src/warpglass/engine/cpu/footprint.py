"""What a launch takes of the host's memory beside its arrays, and the refusal of more than the limit.

Belongs here: the sizes, from what the compiled kernel says, before anything of it is allocated; the limit is
budget.py's. A worker has a block's shared memory and, for its threads, local memory and frames (registers
kept across barriers). Each block of a cooperative grid has a worker of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...codegen import BlockShape, KernelCode
from ...codegen.context import SITE_WORDS
from ...devices.device import Device
from ...errors import LaunchError
from ...host.budget import MEMORY, in_units, memory_limit
from ...program.facts import Facts

_WARP = 32
# A worker's small tables, alignment and Python objects, measured on a kernel that does nothing.
_WORKER = 48 << 10


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes of one worker, by what they are for, and of the module's variables, which all share."""

    worker: dict[str, int]
    variables: int

    @property
    def each(self) -> int:
        """Bytes of one worker."""
        return sum(self.worker.values())

    def total(self, workers: int) -> int:
        """Bytes of a launch on so many workers."""
        return self.variables + workers * self.each


def footprint(facts: Facts, code: KernelCode, shape: BlockShape, shared: int) -> Footprint:
    """The sizes for a kernel with `shared` bytes of static and dynamic shared memory."""
    worker = {
        "local memory": shape.width * shape.warps * facts.local.size,
        "registers across barriers": code.frame_stride * shape.warps,
        "shared memory": shared,
        "counters of observers": 8 * code.words,
        "tables": 8 * SITE_WORDS * len(code.sites) + _WORKER,
    }
    # their initial bytes, the same laid out, and themselves (program/variables.py counts likewise)
    return Footprint(worker, 3 * sum(variable.size for variable in facts.variables))


def affordable(need: Footprint, kernel: str, workers: int, resident: int | None) -> int:
    """How many of `workers` workers the limit allows; `resident` blocks that wait for others need one each.

    Raises LaunchError if there is not even room for one, or for all that are resident.
    """
    limit = memory_limit()
    blocks = "one block at a time" if resident is None else f"all {resident} blocks of the grid at once"
    _check(need, kernel, 1 if resident is None else resident, blocks, limit)
    return max(1, min(workers, (limit - need.variables) // need.each))


def _check(need: Footprint, kernel: str, workers: int, blocks: str, limit: int) -> None:
    total = need.total(workers)
    if total <= limit:
        return
    parts = [(size * workers, what) for what, size in need.worker.items()]
    most, what = max([*parts, (need.variables, "module variables")])
    raise LaunchError(
        f"cudaErrorMemoryAllocation: {kernel} needs {in_units(total)} of memory on the engine, "
        f"{in_units(most)} of it for {what} ({blocks}), but {in_units(limit)} are allowed; "
        f"{MEMORY}={-(-total // 2**30)}G would allow it",
        cuda_name="cudaErrorMemoryAllocation",
        synchronous=True,
        sticky=False,
    )


def most_resident(model: Device, threads: int) -> int:
    """How many blocks of so many threads the device could hold at once, by its limits on both."""
    limits = model.limits
    return model.multiprocessors * max(1, min(limits.blocks_per_sm, limits.threads_per_sm // threads))
