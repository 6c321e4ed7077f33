"""What a launch asks of a GPU: plain numbers, counted by the engine and read from ptxas's machine code.

Belongs here: the record and its meaning. Who counts is observe/; who divides by rates is limiters.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf


@dataclass(frozen=True, slots=True)
class Atomics:
    """Atomic operations of one instruction on global memory.

    `operations` of single threads, after those of a warp that ptxas adds up; `lines` that warps ask of the
    second level for them; `places`: distinct 32-byte sectors; `floats` whether numbers in floating point are
    added.
    """

    operations: float
    lines: float
    places: float
    floats: bool


@dataclass(frozen=True, slots=True)
class Load:
    """One launch on one GPU model.

    `instructions` and `pipes` count instructions of warps, `pipes` by the kind of execution unit (rates.py);
    of tensor cores, multiply-adds of 16-bit elements.
    `shared_passes` are passes over the banks of shared memory, `requests`, `lines` and `bytes` those of
    global and local memory at the first level; `l2_*` and `dram_*` those of the simulated caches, in sectors
    but for `l2_*_lines` and for `l2_stored`, the bytes that stores carry; `l2_met` are the sectors that
    stores bring where those that meet count once; `lone_*` are sectors of DRAM that move without the other
    one of their 64 bytes.
    `path_cycles` is how long a block's busiest warp takes if nothing keeps it waiting but its own
    dependencies, in clocks of this GPU, and `path_gaps` how long of that it waits for its own arithmetic;
    `barriers` how often warps come to one.
    """

    blocks: int
    warps: int  # of a block
    resident: int  # blocks that a multiprocessor holds at once
    instructions: float
    pipes: Mapping[str, float]
    shared_passes: float
    requests: float
    lines: float
    bytes: float
    l2_reads: float
    l2_writes: float
    l2_atomics: float
    l2_read_lines: float
    l2_write_lines: float
    dram_reads: float
    dram_writes: float
    lone_reads: float
    lone_writes: float
    path_cycles: float
    barriers: float
    atomics: tuple[Atomics, ...] = ()
    operations: frozenset[str] = field(default_factory=frozenset[str])  # of the machine code, by name
    l2_stored: float = inf  # where it was not counted
    l2_met: float = inf
    path_gaps: float = 0.0
    waits: bool = False  # whether blocks wait for other blocks

    @property
    def all_warps(self) -> int:
        """Warps of the whole launch."""
        return self.blocks * self.warps
