"""What a GPU's parts do per clock and how long they take: from its table, where it was measured, or derived.

Belongs here: the way from devices/ to the numbers that limiters.py divides by. A number that calibration
measured on this GPU (bench/kernel_time/) stands in its table; what no table has is derived from the datasheet
as stated here. Rates are per clock and multiprocessor unless a name says otherwise, in instructions of warps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...devices import Device


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of one GPU; clock in Hz, bandwidths in bytes per second, latencies in clocks, times in s."""

    name: str
    measured: bool  # whether calibration was run on this GPU
    multiprocessors: int
    clock: float
    issue: float  # instructions
    pipes: Mapping[str, float]  # instructions, by kind of unit; of tensor cores, multiply-adds
    multiply_parts: float  # instructions that make an integer multiply-add
    access: float  # instructions of the load/store unit
    passes: float  # of 128 bytes, of shared memory and of the first level's data
    lines: float  # tags of the first level
    barriers: float  # warps that come to a barrier
    l2_read: float
    l2_write: float
    l2_read_lines: float  # per second
    l2_write_lines: float
    dram_read: float
    dram_write: float
    lone_read: float  # sectors of DRAM that one costs that moves alone
    lone_write: float
    atomics: float  # threads' operations per clock of the whole second level
    atomic_lines: float  # likewise, lines of warps
    atomic_slice: float  # threads' operations per clock of one slice
    atomic_place: float  # clocks between two operations at one place
    atomic_place_float: float
    dependent: float  # clocks of an arithmetic instruction
    l1: float
    shared: float
    l2: float
    dram: float
    launch: float  # seconds of an empty kernel between two events
    blocks: float  # that start per clock of the whole GPU
    warps: float  # that start per clock and multiprocessor
    spread: float  # nine of ten kernels take between time / spread and time * spread

    def barrier(self, warps: int) -> float:
        """Clocks that a barrier of so many warps takes when all have come."""
        return self.dependent * (3 + 0.5 * warps)


# Where a GPU was not measured. Shares of the datasheet's bandwidth that streams reach, reading and writing:
# those of eight GPUs from V100 to L40 lie within 5 % of them (gpu-benches). Of the second level, writing
# reaches 60 % of reading, and half as many lines a clock as it has sectors of 32 bytes; the rest is what an
# H200 does.
_READ = _WRITE = 0.94
_COLD = 1.15  # a kernel's loads from DRAM over those of a chain, which has looked up its addresses before
_L2_WRITE, _L2_LINES = 0.6, 0.67
_L2_LEAST = 2.0  # the second level's bandwidth over DRAM's, at least: an H200's, of all that were measured
_H200 = {
    **{"lines_per_clock": 4.0, "lone_read": 3.7, "lone_write": 9.0},
    **{"blocks_per_clock": 0.84, "warps_per_clock": 0.167},
}
_BARRIERS = 2.2  # warps that come to a barrier, in the time of a dependent instruction: an H200's
_SPREADS = {True: 1.35, False: 1.6}


def rates_of(device: Device) -> Rates:
    """The rates of a GPU."""
    limits, timing = device.limits, device.limits.timing
    own = {**_H200, **timing, **device.kernel_time}
    measured = "spread" in device.kernel_time  # validated there
    clock = 1e6 * own.get("clock_mhz", device.clock_mhz)
    modern = device.capability >= (7, 0)
    paired = device.capability >= (2, 0)  # before, memory itself moves 32 bytes at once
    l2_read = _l2_bytes(device, own)
    return Rates(
        name=device.name,
        measured=measured,
        multiprocessors=device.multiprocessors,
        clock=clock,
        issue=limits.schedulers if modern else min(limits.schedulers, limits.fp32_lanes / 32),
        pipes=_pipes(device),
        multiply_parts=timing["multiply_parts"],
        access=timing["access_lanes"] / 32,
        passes=min(1.0, limits.shared_bytes / 128),
        lines=own["lines_per_clock"] * timing["access_lanes"] / 32,
        barriers=device.kernel_time.get("barrier_warps_per_clock", _BARRIERS / timing["dependent"]),
        l2_read=l2_read,
        l2_write=1e9 * own["l2_write_gb_s"] if "l2_write_gb_s" in own else _L2_WRITE * l2_read,
        l2_read_lines=own["l2_read_lines"] * clock if "l2_read_lines" in own else _L2_LINES * l2_read / 32,
        l2_write_lines=own["l2_write_lines"] * clock if "l2_write_lines" in own else _L2_LINES * l2_read / 64,
        dram_read=1e9 * own.get("dram_read_gb_s", _READ * device.bandwidth_gb_s),
        dram_write=1e9 * own.get("dram_write_gb_s", _WRITE * device.bandwidth_gb_s),
        lone_read=own["lone_read"] if paired else 1.0,
        lone_write=own["lone_write"] if paired else 1.0,
        atomics=own["atomics"],
        atomic_lines=own["atomic_lines"],
        atomic_slice=own["atomic_slice"],
        atomic_place=own["atomic_place"],
        atomic_place_float=own["atomic_place_float"],
        dependent=timing["dependent"],
        l1=own["l1"],
        shared=own["shared"],
        l2=own["l2"],
        dram=_COLD * (own["dram"] if "dram" in own else 1e-9 * timing["dram_ns"] * clock),
        launch=1e-6 * own["launch_us"],
        blocks=own["blocks_per_clock"],
        warps=own["warps_per_clock"],
        spread=own.get("spread", _SPREADS[measured]),
    )


def _l2_bytes(device: Device, own: Mapping[str, float]) -> float:
    """Bytes per second that the second level delivers: measured here, published, or by the capability."""
    known = own.get("l2_read_gb_s") or device.l2_bandwidth_gb_s
    derived = 1e6 * device.clock_mhz * device.multiprocessors * own["l2_bytes"]
    return 1e9 * known if known else max(derived, 1e9 * _L2_LEAST * device.bandwidth_gb_s)


def _pipes(device: Device) -> dict[str, float]:
    """Instructions per clock and multiprocessor by kind of unit, of those that there are."""
    limits = device.limits
    lanes = {
        "fp32": limits.fp32_lanes,
        "integer": limits.int32_lanes,
        "multiply": limits.timing["multiply_lanes"],
        "fp64": limits.fp64_lanes,
        "fp16": (limits.fp16_lanes or 2 * limits.fp32_lanes) / 2,
        "special": limits.special_lanes,
        "shared units": limits.fp32_lanes if device.capability < (7, 0) else 0,
    }
    pipes = {name: count / 32 for name, count in lanes.items() if count}
    return {**pipes, "tensor": limits.timing["tensor"]} if limits.timing["tensor"] else pipes
