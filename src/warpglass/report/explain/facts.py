"""A profile as the quantities that lessons are about: lanes, sectors, passes, blocks.

Belongs here: sums and ratios of counters under plain names, for the launch and for one line. No thresholds,
no words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from ... import devices
from ...devices import Device
from ...records.profile import LineProfile, Profile

LANES, SECTOR = 32, 32
_KINDS = ("ld", "st", "atom", "red")


@dataclass(frozen=True)
class Counts:
    """Counters of a launch or of a line; every property is 0 where nothing was counted."""

    counters: Mapping[str, float]

    def total(self, pattern: str, *kinds: str) -> float:
        """The sum of counters of several kinds."""
        return sum(self.counters.get(pattern.format(kind), 0.0) for kind in kinds)

    @property
    def instructions(self) -> float:
        """Executed by warps."""
        return self.total("smsp__inst_executed.sum", "")

    @property
    def threads(self) -> float:
        """Executed by threads: up to 32 times as many."""
        return self.total("smsp__thread_inst_executed.sum", "")

    @property
    def lanes(self) -> float:
        """Active lanes of an instruction, on average; 32 where nothing was executed."""
        return self.threads / self.instructions if self.instructions else LANES

    @property
    def idle(self) -> float:
        """Lanes that did nothing, over all instructions."""
        return LANES * self.instructions - self.threads

    def sectors(self, *kinds: str) -> float:
        """Sectors of global memory that accesses of these kinds ask for; of all kinds if none is named."""
        return self.total("l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum", *(kinds or _KINDS))

    def requests(self, *kinds: str) -> float:
        """Accesses of warps to global memory."""
        return self.total("l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum", *(kinds or _KINDS))

    def used(self, *kinds: str) -> float:
        """Bytes of global memory that threads asked for, each once a request."""
        return self.total("smsp__sass_data_bytes_mem_global_op_{}.sum", *(kinds or _KINDS))

    def excess(self, *kinds: str) -> float:
        """Sectors beyond the least that could hold what was asked for, one a request at least.

        All lanes of a warp asking for one word is no waste.
        """
        return sum(
            max(0.0, self.sectors(kind) - max(self.requests(kind), self.used(kind) / SECTOR))
            for kind in kinds
        )

    @property
    def passes(self) -> float:
        """Over shared memory."""
        return self.total("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "")

    @property
    def conflicts(self) -> float:
        """Passes of loads and stores that are repeats."""
        every = self.total("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "")
        return max(0.0, every - self.collisions)

    @property
    def collisions(self) -> float:
        """Passes of atomics that are repeats."""
        return self.total("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum", "")

    @property
    def branches(self) -> float:
        """Executed by warps."""
        return self.total("smsp__sass_branch_targets.sum", "")

    @property
    def parted(self) -> float:
        """Branches at which lanes went different ways."""
        return self.total("smsp__sass_branch_targets_threads_divergent.sum", "")

    @property
    def local(self) -> float:
        """Sectors of local memory."""
        return self.total("l1tex__t_sectors_pipe_lsu_mem_local_op_{}.sum", "ld", "st")

    @property
    def dram(self) -> float:
        """Bytes between L2 and DRAM; 0 where the caches were not simulated."""
        return self.total("dram__bytes_{}.sum", "read", "write")


class Facts(Counts):
    """A launch: its counters, its shape, its lines, its GPU."""

    def __init__(self, profile: Profile):
        super().__init__(profile.counters)
        self.profile = profile

    @property
    def block(self) -> int:
        """Threads of a block."""
        return prod(self.profile.block)

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return prod(self.profile.grid)

    @cached_property
    def gpu(self) -> Device | None:
        """The GPU that was counted for, None if this version does not know it."""
        try:
            return devices.get(self.profile.model)
        except devices.UnknownDevice:
            return None

    @property
    def multiprocessors(self) -> int:
        """Of the GPU, 0 if that is not known."""
        return self.gpu.multiprocessors if self.gpu else 0

    @property
    def fit(self) -> Mapping[str, Any]:
        """The occupancy as the profile has it; empty if it is not known."""
        return self.profile.occupancy

    @property
    def together(self) -> int:
        """Blocks that the GPU holds at once."""
        return self.multiprocessors * int(self.fit["blocks"]) if self.fit else 0

    @cached_property
    def lines(self) -> tuple[tuple[LineProfile, Counts], ...]:
        """The lines with their counts."""
        return tuple((line, Counts(line.counters)) for line in self.profile.lines)
