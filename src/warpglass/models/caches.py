"""The caches of a GPU as they are modelled: geometry, and what the counts of a simulated launch mean.

Belongs here: how large the model's caches are, and the factors between what they count and what the
hardware's counters say. The simulation itself is generated code (observe/caches/).

The model: each multiprocessor has a first-level cache of 128-byte lines with four 32-byte sectors: what
shared memory leaves of unified memory; stores go through it and update what it has. Block b runs on
multiprocessor b modulo their number. One second-level cache of the same lines writes back. All are
set-associative and replace the least recently used line; NVIDIA documents none of that. Instructions and
parameters of a launch are not simulated, a constant stands for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass

from ..devices import Device
from .memory_rules import FirstLevel, rules_of

LINE, SECTOR = 128, 32  # bytes
_L1_SETS = 512
_L2_SETS = 65536


@dataclass(frozen=True, slots=True)
class Geometry:
    """Sets and ways of both levels for one kernel on one GPU, how many multiprocessors there are, and which
    loads the first level keeps.
    """

    multiprocessors: int
    l1_sets: int
    l1_ways: int
    l2_sets: int
    l2_ways: int
    first_level: FirstLevel = FirstLevel.ALL
    resident: int = 1  # blocks that a multiprocessor holds at once
    keeps_stored: bool = True  # whether a line stays in the first level when it is stored to


@dataclass(frozen=True, slots=True)
class Traffic:
    """Of a launch, in sectors unless said: asked of the first level and found there, moved beyond it."""

    l1_sectors: int
    l1_hits: int
    l2_reads: int
    l2_writes: int
    l2_atomics: int
    l2_hits: int
    dram_reads: int
    dram_writes: int
    l2_lines: int  # lines that requests to the second level touch
    lone_reads: int  # sectors of DRAM that are read, or written, while the other one of their 64 bytes is not
    lone_writes: int
    l1_waits: int  # of l1_hits, sectors that are still on their way there
    dram_waits: int  # sectors found at either level that are still on their way from DRAM
    first_l1: int  # reads of blocks' first warps of which all were found at the first level
    first_l2: int  # likewise, of which the farthest came from the second level
    first_dram: int  # likewise, from DRAM


def sum_traffic(parts: Iterable[Traffic]) -> Traffic:
    """The traffic of all parts together."""
    rows = [astuple(part) for part in parts]
    return Traffic(*map(sum, zip(*rows, strict=True))) if rows else Traffic(*[0] * 16)


def geometry(device: Device, shared: int, resident: int) -> Geometry:
    """The caches of a GPU whose multiprocessors are set to `shared` bytes of shared memory and hold so many
    blocks at once.
    """
    limits = device.limits
    least = next(kib for oldest, kib in _L1_LEAST if limits.capability >= oldest)
    rest = limits.shared_per_sm - shared if limits.capability >= (7, 0) else 0
    first_level = rules_of(limits.capability).first_level
    cached = first_level is not FirstLevel.NONE
    return Geometry(
        device.multiprocessors,
        _L1_SETS,
        max(1, (1024 * least + rest) // LINE // _L1_SETS),
        _L2_SETS if cached else 1,  # before 2.0 both levels served textures: a line is not kept
        max(1, 1024 * device.l2_kib // LINE // _L2_SETS) if cached else 1,
        first_level,
        max(1, resident),
        limits.capability >= _KEEPS_STORED,
    )


# NVIDIA's courses say of 2.x that stores invalidate the first level; for 6.0 that is assumed.
_KEEPS_STORED = (7, 0)


# KiB of the first level that are never shared memory, by the oldest capability: unified memory (128 KiB on
# 7.0, 192 on 8.0, 256 on 9.0) less the most shared memory; before that a cache of its own. NVIDIA's tuning
# guides.
_L1_LEAST = (((8, 0), 28), ((7, 0), 32), ((0, 0), 24))


# Sectors of a launch that does next to nothing, and how often the second level counts a sector where it has
# two partitions, half of all sectors being home in the one that is not the asking multiprocessor's: Nsight
# Compute on an H100, vadd_100 and the streaming kernels of tests/cases/truth.
_LAUNCH = {"l2_reads": 950, "l2_writes": 150, "dram_reads": 90}
_PARTITIONED = {(8, 0): 1.5, (9, 0): 1.5, (10, 0): 1.5}


def counters(traffic: Traffic, capability: tuple[int, int]) -> dict[str, float]:
    """What Nsight Compute would show, by its names; all of it is modelled."""
    factor = _PARTITIONED.get(capability, 1.0)
    reads = factor * traffic.l2_reads + _LAUNCH["l2_reads"]
    writes = factor * traffic.l2_writes + _LAUNCH["l2_writes"]
    atomics = factor * traffic.l2_atomics
    asked = traffic.l2_reads + traffic.l2_writes + traffic.l2_atomics
    return {
        "l1tex__t_sector_hit_rate.pct": _share(traffic.l1_hits, traffic.l1_sectors),
        "lts__t_sectors_op_read.sum": reads,
        "lts__t_sectors_op_write.sum": writes,
        "lts__t_sectors_op_atom.sum": atomics,
        "lts__t_sectors_srcunit_tex_op_read.sum": factor * traffic.l2_reads,
        "lts__t_sectors_srcunit_tex_op_write.sum": factor * traffic.l2_writes,
        "lts__t_sector_hit_rate.pct": _share(traffic.l2_hits, asked),
        "dram__sectors_read.sum": traffic.dram_reads + _LAUNCH["dram_reads"],
        "dram__sectors_write.sum": traffic.dram_writes,
        "dram__bytes_read.sum": SECTOR * (traffic.dram_reads + _LAUNCH["dram_reads"]),
        "dram__bytes_write.sum": SECTOR * traffic.dram_writes,
    }


def _share(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
