"""The roofline: how fast work with so many operations and bytes can be on a GPU, and what holds it back.

Belongs here: the arithmetic over a kernel's counts (Work) and a GPU's peaks (Peaks); no words, no pictures.
Units: operations, bytes, seconds; rates in 1e9 per second, as devices/ has them.

Every precision has a pipeline of its own and every level of memory a bandwidth of its own; each needs at
least its work divided by its rate. What needs longest is the bound. For one precision and one level this is
the usual min(peak, intensity * bandwidth); for a mixture it remains true.

After Williams, Waterman and Patterson, Roofline, CACM 52(4), 2009; several levels: Ilic, Pratas and Sousa
2014.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..devices.device import Device

PRECISIONS: tuple[str, ...] = ("fp64", "fp32", "fp16")
LEVELS: tuple[str, ...] = ("dram", "l2", "l1", "shared")


@dataclass(frozen=True, slots=True)
class Work:
    """What a kernel does: operations by precision (an FMA is two), bytes moved by level, seconds if known.

    A level or precision without an entry is not counted, not zero. `seconds_label` says whose time it is
    ("gpu" is a GPU's own; "engine" would compare a CPU with a GPU's peaks).
    """

    name: str
    flops: Mapping[str, float]
    bytes: Mapping[str, float]
    seconds: float | None = None
    seconds_label: str = "gpu"

    @property
    def total_flops(self) -> float:
        """Operations of all precisions."""
        return sum(self.flops.values())

    def intensity(self, level: str) -> float | None:
        """Operations per byte at a level; None where nothing was moved there or nothing counted."""
        moved = self.bytes.get(level)
        return self.total_flops / moved if moved else None

    @property
    def gflops(self) -> float | None:
        """Operations per second reached, in 1e9; None without a time."""
        return self.total_flops / self.seconds * 1e-9 if self.seconds else None


@dataclass(frozen=True, slots=True)
class Peaks:
    """What a GPU can do: 1e9 operations per second by precision, 1e9 bytes per second by level.

    Rates that no source states have no entry. `notes` says how an entry was come by, where it was not
    published as such.
    """

    name: str
    gflops: Mapping[str, float]
    gb_s: Mapping[str, float]
    notes: Mapping[str, str] = field(default_factory=dict[str, str])

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
    """Return a GPU's peaks from its table; tensor cores do not count."""
    gflops = {
        "fp64": device.fp64_gflops,
        "fp32": device.fp32_gflops,
        "fp16": device.fp16_gflops,
    }
    gb_s = {
        "dram": device.bandwidth_gb_s,
        "l2": device.l2_bandwidth_gb_s,
        "l1": device.l1_bandwidth_gb_s,
        "shared": device.shared_bandwidth_gb_s,
    }
    limits = device.limits
    notes = {"l2": "measured", "shared": f"{limits.shared_bytes} bytes/clock/SM"}
    if limits.l1_bytes:
        notes["l1"] = f"{limits.l1_bytes} bytes/clock/SM, measured"
    return Peaks(
        device.name,
        {name: rate for name, rate in gflops.items() if rate},
        {name: rate for name, rate in gb_s.items() if rate},
        notes,
    )


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

    `seconds` maps each precision and level that has counts and a rate to the least time that it needs;
    `bound` is the one that needs longest. `gflops` is what can be attained, 1e9 operations per second.
    """

    work: Work
    peaks: Peaks
    seconds: Mapping[str, float]
    bound: str

    @property
    def memory_bound(self) -> bool:
        """Whether a level of memory needs longest."""
        return self.bound in LEVELS

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
        """What the pipelines alone would allow; None if no operations were counted."""
        times = [self.seconds[name] for name in PRECISIONS if name in self.seconds]
        return self.work.total_flops / max(times) * 1e-9 if times else None

    @property
    def share_of_peak(self) -> float | None:
        """The attainable part of the pipelines' peak."""
        return self.gflops / self.peak_gflops if self.peak_gflops else None

    @property
    def share_of_roof(self) -> float | None:
        """How much of what can be attained was reached; None without a GPU's time."""
        known = self.work.seconds if self.work.seconds_label == "gpu" else None
        return self.least_seconds / known if known else None

    def ridge(self, level: str) -> float | None:
        """The intensity from which on this work would not be bound by a level; None if that is not known."""
        if self.peak_gflops is None or level not in self.peaks.gb_s:
            return None
        return self.peak_gflops / self.peaks.gb_s[level]


def place(work: Work, peaks: Peaks) -> Placed | None:
    """Return where work stands; None if it has no counts that this GPU has a rate for."""
    seconds = {
        name: count / rates[name] * 1e-9
        for counts, rates in ((work.flops, peaks.gflops), (work.bytes, peaks.gb_s))
        for name, count in counts.items()
        if count and name in rates
    }
    if not seconds:
        return None
    return Placed(work, peaks, seconds, max(seconds, key=lambda name: seconds[name]))


# ---------------------------------------------------------------------------------------- from saved profiles
# What a profile's metrics (nvprof's names) say of operations and of bytes: transactions are 32-byte sectors,
# except in shared memory, where one moves up to 128 bytes. Atomics are counted in lines, not in sectors; what
# they move shows at the L2.
_FLOPS = {"fp64": "flop_count_dp", "fp32": "flop_count_sp", "fp16": "flop_count_hp"}
_TRANSACTIONS = {
    "dram": (32, ("dram_read_transactions", "dram_write_transactions")),
    "l2": (32, ("l2_read_transactions", "l2_write_transactions")),
    "l1": (
        32,
        (
            "gld_transactions",
            "gst_transactions",
            "local_load_transactions",
            "local_store_transactions",
        ),
    ),
    "shared": (128, ("shared_load_transactions", "shared_store_transactions")),
}


def points_from_profile(record: Mapping[str, Any]) -> tuple[Work, ...]:
    """Return the works of a saved profile.

    The record has "kernel" (or "name"), "metrics" ({nvprof's name: number}), and optionally "seconds" and
    "time_label" (whose time it is); or "profiles", a list of such. Raises ValueError naming what is missing.
    """
    if "profiles" in record:
        return tuple(work for entry in record["profiles"] for work in points_from_profile(entry))
    metrics = record.get("metrics")
    if not isinstance(metrics, Mapping):
        raise ValueError('it has no "metrics" (a saved profile has: names of nvprof and their numbers)')
    numbers: dict[str, float] = {str(name): float(value) for name, value in metrics.items()}
    flops = {precision: numbers[name] for precision, name in _FLOPS.items() if name in numbers}
    moved = {
        level: float(size * sum(numbers.get(name, 0.0) for name in names))
        for level, (size, names) in _TRANSACTIONS.items()
        if any(name in numbers for name in names)
    }
    if not flops and not moved:
        raise ValueError("its metrics count neither operations (flop_count_sp, ...) nor transactions")
    name = str(record.get("kernel") or record.get("name") or "kernel")
    seconds = record.get("seconds")
    return (
        Work(
            name,
            flops,
            moved,
            None if seconds is None else float(seconds),
            str(record.get("time_label", "gpu")),
        ),
    )
