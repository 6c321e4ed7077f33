"""The roofline: how fast work with so many operations and bytes can be on a GPU, and what holds it back.

Belongs here: the arithmetic over a kernel's counts (Work) and a GPU's peaks (Peaks); no words, no pictures.
Units: operations, bytes, instructions of warps, seconds; rates in 1e9 per second, as devices/ has them.

Every precision has a pipeline of its own, every level of memory a bandwidth, and every kind of execution unit
a rate of instructions; each needs at least its work divided by its rate. What needs longest is the bound. For
one precision and one level this is the usual min(peak, intensity * bandwidth); for a mixture it remains true.
L1 and shared memory pass up to 128 bytes to a warp at once, a wavefront: passes are what is counted there,
however few bytes are wanted of each. Where both are one memory (all but compute capability 1.x, 5.x and 6.x),
their passes take turns.

After Williams, Waterman and Patterson, Roofline, CACM 52(4), 2009; several levels: Ilic, Pratas and Sousa
2014; roofs of instructions and wavefronts: Ding and Williams 2019.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..devices.device import Device
from .kernel_time import rates_of

PRECISIONS: tuple[str, ...] = ("fp64", "fp32", "fp16")
LEVELS: tuple[str, ...] = ("dram", "l2", "l1", "shared")
PASS = 128  # bytes that L1 or shared memory pass to a warp at once
BOTH = "l1 and shared"  # the time of L1 and shared memory where they are one memory
TIMED = ("gpu", "modelled")  # whose times are those of the GPU that a roofline is of


@dataclass(frozen=True, slots=True)
class Work:
    """What a kernel does: operations by precision (an FMA is two), bytes moved by level, seconds if known.

    Bytes of "l1" and "shared" are wavefronts times PASS. `instructions` are those of warps, by the unit that
    runs them ("issue": all). A level or precision without an entry is not counted, not zero. `seconds_label`
    says whose time it is: "gpu" is a GPU's own, "modelled" one by the model of kernel times, either of `gpu`
    where that is named; "engine" would compare a CPU with a GPU's peaks. `gpu` is the short name of the GPU
    that it was counted for.
    """

    name: str
    flops: Mapping[str, float]
    bytes: Mapping[str, float]
    seconds: float | None = None
    seconds_label: str = "gpu"
    instructions: Mapping[str, float] = field(default_factory=dict[str, float])
    gpu: str = ""

    @property
    def total_flops(self) -> float:
        """Operations of all precisions."""
        return sum(self.flops.values())

    def moved(self, level: str) -> float | None:
        """Bytes at a level, or at L1 and shared memory together; None if they were not counted."""
        if level == BOTH:
            return sum(self.bytes.get(one, 0.0) for one in ("l1", "shared"))
        return self.bytes.get(level)

    def intensity(self, level: str) -> float | None:
        """Operations per byte at a level; None where either is none or was not counted."""
        moved = self.moved(level)
        return self.total_flops / moved if moved and self.total_flops else None

    @property
    def known_seconds(self) -> float | None:
        """The time if it is a GPU's, measured or modelled."""
        return self.seconds if self.seconds_label in TIMED else None

    @property
    def gflops(self) -> float | None:
        """Operations per second reached, in 1e9; None without a time."""
        return self.total_flops / self.seconds * 1e-9 if self.seconds else None


@dataclass(frozen=True, slots=True)
class Peaks:
    """What a GPU can do: 1e9 operations per second by precision, 1e9 bytes per second by level.

    `instructions` has 1e9 instructions of warps per second by unit. Rates that are not known, or that it does
    not have, have no entry. `notes` says where an entry is from: measured, of a datasheet, or derived.
    `one_memory` tells whether L1 and shared memory are one. `key` is the GPU's short name.
    """

    name: str
    gflops: Mapping[str, float]
    gb_s: Mapping[str, float]
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    instructions: Mapping[str, float] = field(default_factory=dict[str, float])
    one_memory: bool = False
    key: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """Precisions and levels without a rate."""
        return tuple(
            name
            for names, table in ((PRECISIONS, self.gflops), (LEVELS, self.gb_s))
            for name in names
            if name not in table
        )


def peaks_of(device: Device) -> Peaks:
    """Return a GPU's peaks from its table; tensor cores do not count.

    Bandwidths are upper bounds: the published one of DRAM, of L2 what someone measured; where nobody did,
    what the model of kernel times derives from the compute capability.
    """
    gflops = {
        "fp64": device.fp64_gflops,
        "fp32": device.fp32_gflops,
        "fp16": device.fp16_gflops,
    }
    rates = rates_of(device)
    clocks = 1e-9 * rates.clock * rates.multiprocessors
    levels = _levels(device)
    return Peaks(
        device.name,
        {name: rate for name, rate in gflops.items() if rate},
        {name: rate for name, (rate, _) in levels.items()},
        {name: note for name, (_, note) in levels.items()},
        {name: rate * clocks for name, rate in {**rates.pipes, "issue": rates.issue}.items()},
        one_memory=device.capability >= (2, 0) and device.capability[0] not in (5, 6),
        key=device.key,
    )


def _levels(device: Device) -> dict[str, tuple[float, str]]:
    """The bandwidth of each level, 1e9 bytes per second, and where it is from."""
    limits, measured = device.limits, device.kernel_time
    found = {"dram": (device.bandwidth_gb_s, f"datasheet ({device.sources['bandwidth_gb_s']})")}
    if device.capability >= (2, 0):  # before, both caches served textures only
        if device.l2_bandwidth_gb_s:
            source = device.sources["l2_bandwidth_gb_s"]
            found["l2"] = device.l2_bandwidth_gb_s, f"measured ({source})"
        elif "l2_read_gb_s" in measured:
            source = device.sources["kernel_time.l2_read_gb_s"]
            found["l2"] = measured["l2_read_gb_s"], f"measured ({source})"
        else:
            rate = 1e-9 * rates_of(device).l2_read
            each = rate / device.per_second(1)
            found["l2"] = rate, f"{each:.3g} bytes/clock/SM, derived"
        each = limits.l1_bytes or min(PASS, limits.shared_bytes)
        how = "measured (gpu-benches)" if limits.l1_bytes else "derived from shared memory's"
        found["l1"] = device.per_second(each), f"{each} bytes/clock/SM, {how}"
    found["shared"] = device.shared_bandwidth_gb_s, f"{limits.shared_bytes} bytes/clock/SM, datasheet (guide)"
    return found


def attainable(peaks: Peaks, precision: str, level: str, intensity: float) -> float:
    """Return the height of the roof at an intensity, in 1e9 operations per second."""
    return min(peaks.gflops[precision], intensity * peaks.gb_s[level])


def ridge(peaks: Peaks, precision: str, level: str) -> float:
    """Return the intensity from which on a level's bandwidth no longer limits, in operations per byte."""
    return peaks.gflops[precision] / peaks.gb_s[level]


# ---------------------------------------------------------------------------------------- where work stands
@dataclass(frozen=True, slots=True)
class Placed:
    """Work on a GPU's roofline.

    `seconds` maps each precision, level and unit that has counts and a rate to the least time that it needs;
    `bound` is the one that needs longest. `gflops` is what can be attained, 1e9 operations per second.
    """

    work: Work
    peaks: Peaks
    seconds: Mapping[str, float]
    bound: str

    @property
    def memory_bound(self) -> bool:
        """Whether a level of memory needs longest."""
        return self.bound in (*LEVELS, BOTH)

    @property
    def compute_bound(self) -> bool:
        """Whether a pipeline of floating point needs longest."""
        return self.bound in PRECISIONS

    @property
    def least_seconds(self) -> float:
        """The time that the work needs at least."""
        return self.seconds[self.bound]

    @property
    def gflops(self) -> float:
        """What can be attained, in 1e9 operations per second."""
        return self.work.total_flops / self.least_seconds * 1e-9 if self.work.total_flops else 0.0

    @property
    def peak_gflops(self) -> float | None:
        """What the pipelines alone would allow with multiply-adds only; None if nothing was counted."""
        rates, counts = self.peaks.gflops, self.work.flops
        times = [count / rates[name] for name, count in counts.items() if count and name in rates]
        return self.work.total_flops / max(times) if times else None

    @property
    def share_of_peak(self) -> float | None:
        """The attainable part of the pipelines' peak."""
        return self.gflops / self.peak_gflops if self.peak_gflops else None

    @property
    def share_of_roof(self) -> float | None:
        """How much of what can be attained was reached; None without a GPU's time, measured or modelled."""
        known = self.work.known_seconds
        return self.least_seconds / known if known else None

    def rate(self, level: str) -> float | None:
        """1e9 bytes per second of the highest bandwidth at a level, of both where they are one memory."""
        return self.peaks.gb_s.get("l1" if level == BOTH else level)

    def ridge(self, level: str) -> float | None:
        """The intensity from which on this work would not be bound by a level; None if that is not known."""
        rate = self.rate(level)
        return None if self.peak_gflops is None or rate is None else self.peak_gflops / rate


def place(work: Work, peaks: Peaks) -> Placed | None:
    """Return where work stands; None if it has no counts that this GPU has a rate for."""
    seconds: dict[str, float] = {}
    for counts, rates in (
        (work.flops, peaks.gflops),
        (work.bytes, peaks.gb_s),
        (work.instructions, peaks.instructions),
    ):
        for name, count in counts.items():
            if count and name in rates:
                seconds[name] = max(seconds.get(name, 0.0), count / rates[name] * 1e-9)
    if peaks.one_memory and "l1" in seconds and "shared" in seconds:
        seconds[BOTH] = seconds["l1"] + seconds["shared"]
    if not seconds:
        return None
    return Placed(work, peaks, seconds, max(seconds, key=lambda name: seconds[name]))
