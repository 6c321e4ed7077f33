"""How many blocks of a kernel one multiprocessor holds at once, and what keeps it from holding more.

Belongs here: the arithmetic alone, as functions from a block's demand and a GPU's limits (devices/) to
counts. No words, no files. The steps are those of NVIDIA's cuda_occupancy.h (compute capability 3.x to 12.x),
of its last version with 2.x, and of the occupancy spreadsheet for 1.x. Sizes in bytes, registers of 32 bits.

Each resource allows a number of blocks; the least of them is what fits, and every resource that allows no
more than that is a limiting factor. On 1.x the kernel's parameters lie in shared memory too; add them to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..devices.device import Limits
from ..errors import ArgumentError

WARP = 32
REGISTERS, WARPS, BLOCKS, SHARED, BARRIERS = RESOURCES = (
    "registers",
    "warps",
    "blocks",
    "shared memory",
    "barriers",
)

# Numbers of registers per thread that compute capability 2.x allocates in larger steps (cuda_occupancy.h of
# CUDA 8; it gives no reason).
_FERMI_COARSE = frozenset((21, 22, 29, 30, 37, 38, 45, 46))
_FERMI_COARSE_UNIT = 128
_PARTITIONED_CACHING = ((5, 2), (5, 3), (6, 1), (6, 2))  # where a block may be bound to half a multiprocessor


@dataclass(frozen=True, slots=True)
class Demand:
    """What one block asks for.

    `registers` per thread; `static_shared` and `dynamic_shared` in bytes; `barriers` that the kernel names (0
    if unknown). `carveout` is the preferred share of shared memory in percent of the most there is, None for
    no preference; on 2.x and 3.x 0, 50 and 100 stand for cudaFuncCachePreferL1, -Equal and -Shared.
    `opted_in` says that the launch allows more dynamic shared memory than the default. `partitioned` asks for
    partitioned global caching (5.2 to 6.2, off unless compiled with -dlcm=ca).
    """

    threads: int
    registers: int
    static_shared: int = 0
    dynamic_shared: int = 0
    barriers: int = 0
    carveout: int | None = None
    opted_in: bool = True
    partitioned: bool = False

    @property
    def shared(self) -> int:
        """Static and dynamic shared memory."""
        return self.static_shared + self.dynamic_shared

    @property
    def warps(self) -> int:
        """Warps of the block, the last one counted whole."""
        return -(-self.threads // WARP)


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How a demand fits one multiprocessor.

    `allowed` maps each of RESOURCES to the blocks that it allows, None where it sets no limit. `blocks` is
    the least of them, `limiting` the resources that allow no more. `shared_per_sm` is the shared memory that
    the multiprocessor is set to, `allocated_shared` what a block takes of it, `allocated_registers` likewise.
    """

    demand: Demand
    limits: Limits
    allowed: Mapping[str, int | None]
    allocated_registers: int
    allocated_shared: int
    shared_per_sm: int

    @property
    def blocks(self) -> int:
        """Blocks that a multiprocessor holds at once; 0 if it cannot hold one."""
        return min(count for count in self.allowed.values() if count is not None)

    @property
    def limiting(self) -> tuple[str, ...]:
        """The resources that allow no more than these blocks."""
        return tuple(name for name, count in self.allowed.items() if count == self.blocks)

    @property
    def warps(self) -> int:
        """Warps that a multiprocessor holds at once."""
        return self.blocks * self.demand.warps

    @property
    def share(self) -> float:
        """Occupancy: warps held, of the most that it can hold."""
        return self.warps / self.limits.warps_per_sm

    @property
    def thread_share(self) -> float:
        """Threads held, of the most; less than `share` where warps are not full."""
        return self.blocks * self.demand.threads / self.limits.threads_per_sm


def occupancy(demand: Demand, limits: Limits) -> Occupancy:
    """Return how a block fits a multiprocessor; raises ArgumentError for a demand that makes no sense."""
    _check(demand)
    by_registers, allocated_registers, partitioned = _registers_limit(demand, limits)
    by_shared, allocated_shared, shared_per_sm = _shared_limit(demand, limits)
    allowed = {
        REGISTERS: by_registers,
        WARPS: _warps_limit(demand, limits, partitioned),
        BLOCKS: limits.blocks_per_sm,
        SHARED: by_shared,
        BARRIERS: _barriers_limit(demand, limits),
    }
    return Occupancy(demand, limits, allowed, allocated_registers, allocated_shared, shared_per_sm)


def _check(demand: Demand) -> None:
    if demand.threads < 1:
        raise ArgumentError(f"a block has at least 1 thread, not {demand.threads}")
    for name in ("registers", "static_shared", "dynamic_shared", "barriers"):
        if getattr(demand, name) < 0:
            raise ArgumentError(f"{name.replace('_', ' ')} cannot be {getattr(demand, name)}")
    if demand.carveout is not None and not 0 <= demand.carveout <= 100:
        raise ArgumentError(f"the carve-out is a share from 0 to 100 percent, not {demand.carveout}")


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


# ---------------------------------------------------------------------------------------- registers, warps
def _registers_limit(demand: Demand, limits: Limits) -> tuple[int | None, int, bool]:
    """Return the blocks that registers allow, a block's registers, and whether it is bound to half an SM."""
    if limits.capability < (2, 0):
        return *_registers_per_block(demand, limits), False
    per_warp = _up(demand.registers * WARP, _register_unit(demand.registers, limits))
    allocated = per_warp * demand.warps
    partitioned = demand.partitioned and limits.capability in _PARTITIONED_CACHING
    sub = limits.sub_partitions
    if demand.registers > limits.registers_per_thread or not _block_fits(demand, limits, per_warp, sub):
        return 0, allocated, partitioned
    if per_warp == 0:
        return None, 0, partitioned
    warps = limits.registers_per_sm // sub // per_warp  # of one sub-partition
    if partitioned:
        halved = warps * (sub // 2) // demand.warps * 2
        if halved:
            return halved, allocated, True
    blocks = warps * sub // demand.warps
    if limits.capability == (6, 0) and not _block_fits(demand, limits, per_warp, 4):
        blocks = 0  # so that code runs on the other Pascals too, which have four sub-partitions
    return blocks, allocated, False


def _block_fits(demand: Demand, limits: Limits, per_warp: int, sub_partitions: int) -> bool:
    """Whether one block's registers fit; the hardware counts warps up to whole sub-partitions."""
    return per_warp * _up(demand.warps, sub_partitions) <= limits.registers_per_block


def _register_unit(registers: int, limits: Limits) -> int:
    if limits.capability < (3, 0) and registers in _FERMI_COARSE:
        return _FERMI_COARSE_UNIT
    return limits.register_unit


def _registers_per_block(demand: Demand, limits: Limits) -> tuple[int | None, int]:
    """The same for 1.x, which allocates registers for a whole block, of an even number of warps."""
    warps = _up(demand.warps, limits.sub_partitions)
    allocated = _up(warps * demand.registers * WARP, limits.register_unit)
    if demand.registers > limits.registers_per_thread:
        return 0, allocated
    return (limits.registers_per_sm // allocated if allocated else None), allocated


def _warps_limit(demand: Demand, limits: Limits, partitioned: bool) -> int:
    if demand.threads > limits.threads_per_block:
        return 0
    if partitioned:
        return limits.warps_per_sm // 2 // demand.warps * 2
    return limits.warps_per_sm // demand.warps


def _barriers_limit(demand: Demand, limits: Limits) -> int | None:
    if demand.barriers == 0 or limits.barriers_per_sm == 0:
        return None
    return limits.barriers_per_sm // demand.barriers


# ---------------------------------------------------------------------------------------- shared memory
def _shared_limit(demand: Demand, limits: Limits) -> tuple[int | None, int, int]:
    """Return the blocks that shared memory allows, a block's bytes, and what the SM is set to."""
    allocated = _up(demand.shared + limits.shared_reserved, limits.shared_unit)
    preferred = _preferred_shared(demand.carveout, limits)
    if preferred >= allocated:
        per_sm = preferred
    elif limits.carveouts:
        per_sm = carveout_for(allocated, limits)
    else:
        per_sm = limits.shared_per_sm
    if allocated > most_shared(demand, limits) + limits.shared_reserved:
        return 0, allocated, per_sm
    return (per_sm // allocated if allocated else None), allocated, per_sm


def most_shared(demand: Demand, limits: Limits) -> int:
    """Return the most shared memory that a block may have, in bytes."""
    wanted = demand.shared + limits.shared_reserved
    if demand.opted_in and wanted > limits.shared_per_block:
        return limits.shared_per_block_optin
    return limits.shared_per_block


def _preferred_shared(carveout: int | None, limits: Limits) -> int:
    """Return what a multiprocessor is set to by preference: a share of all, or the largest there is."""
    most = limits.shared_per_sm
    if carveout is None or (5, 0) <= limits.capability < (7, 0) or limits.capability < (2, 0):
        return most  # these have shared memory of its own, not a part of the L1
    if limits.carveouts:
        return carveout_for(carveout * most // 100, limits)
    step = 16 * 1024  # 2.x and 3.x divide 64 KiB of L1 and shared memory in 16, 32 or 48
    if limits.capability < (3, 0):
        return step if carveout == 0 else most
    return most - 2 * step if carveout == 0 else most - step if carveout <= 50 else most


def carveout_for(size: int, limits: Limits) -> int:
    """Return the smallest configuration of shared memory that holds `size` bytes, else the largest."""
    return next((choice for choice in limits.carveouts if choice >= size), limits.shared_per_sm)


# ---------------------------------------------------------------------------------------- over block sizes
@dataclass(frozen=True, slots=True)
class BestBlock:
    """A block size at which a multiprocessor holds most threads, and the blocks that fill the whole GPU."""

    threads: int
    blocks_per_sm: int
    grid: int


def at_threads(demand: Demand, threads: int, shared_per_thread: int = 0) -> Demand:
    """Return the demand of another block size; dynamic shared memory grows by `shared_per_thread` bytes."""
    grown = demand.dynamic_shared + shared_per_thread * (threads - demand.threads)
    return replace(demand, threads=threads, dynamic_shared=max(0, grown))


def curve(demand: Demand, limits: Limits, shared_per_thread: int = 0) -> tuple[Occupancy, ...]:
    """Return the occupancy at every block size from 1 thread to the largest block."""
    return tuple(
        occupancy(at_threads(demand, threads, shared_per_thread), limits)
        for threads in range(1, limits.threads_per_block + 1)
    )


def best_block(demand: Demand, limits: Limits, multiprocessors: int, shared_per_thread: int = 0) -> BestBlock:
    """Return what cudaOccupancyMaxPotentialBlockSize does: the largest of the block sizes that are best.

    Whole warps are tried from the largest block downwards. All zeros if no block fits.
    """
    best = BestBlock(0, 0, 0)
    for threads in range(_up(limits.threads_per_block, WARP), 0, -WARP):
        blocks = occupancy(at_threads(demand, threads, shared_per_thread), limits).blocks
        if blocks * threads > best.threads * best.blocks_per_sm:
            best = BestBlock(threads, blocks, blocks * multiprocessors)
    return best
