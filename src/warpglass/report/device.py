"""One GPU's numbers, each with its source, and the bandwidth of the GPU that is present.

Belongs here: the view of `warpglass devices NAME`, its JSON, and the lines on measured bandwidth.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.text import Text

from ..devices.device import Device, source_texts
from ..models.roofline import peaks_of
from .fitting_table import FittingTable
from .roofline import NAMES
from .tables import Column, DataTable, number, words

_NUMBERS = {  # field of Device -> (what it is called, unit)
    "multiprocessors": ("multiprocessors", ""),
    "clock_mhz": ("boost clock", "MHz"),
    "memory_type": ("memory", ""),
    "memory_gb": ("memory size", "GB"),
    "memory_bus_bits": ("memory bus", "bit"),
    "memory_clock_mhz": ("memory clock", "MHz"),
    "bandwidth_gb_s": ("memory bandwidth", "GB/s"),
    "l2_kib": ("L2 cache", "KiB"),
    "l2_bandwidth_gb_s": ("L2 bandwidth", "GB/s"),
    "host_link_gb_s": ("link to the host", "GB/s"),
}


@dataclass(frozen=True, slots=True)
class Present:
    """The GPU of this machine: bytes per second that a copy moves and that clock and bus allow."""

    description: str
    measured: float
    theoretical: float | None
    clock_khz: int
    bus_bits: int


def print_device(device: Device, console: Console) -> None:
    """Print all that is known of a GPU: its numbers and sources, its limits, its peaks."""
    console.print(Text("{} (compute capability {}.{})".format(device.name, *device.capability), style="bold"))
    if device.note:
        console.print(Text(device.note))
    console.print()
    table = FittingTable(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for field, (name, unit) in _NUMBERS.items():
        value = getattr(device, field)
        if value is not None:
            table.add_row(name, f"{value} {unit}".rstrip(), Text(device.sources[field], style="dim"))
    console.print(table)
    console.print()
    for line in (*_peak_lines(device), *_limit_lines(device)):
        console.print(Text(line))
    console.print()
    texts = source_texts()
    for source in dict.fromkeys(device.sources.values()):
        console.print(Text(f"{source}: {texts[source]}", style="dim"))


def device_table(device: Device) -> DataTable:
    """A GPU's numbers with their units and sources."""
    texts = source_texts()
    rows = tuple(
        (
            words(name),
            words(value) if isinstance(value, str) else number(value, f"{value:g}"),
            words(unit),
            words(texts[device.sources[field]]),
        )
        for field, (name, unit) in _NUMBERS.items()
        if (value := getattr(device, field)) is not None
    )
    columns = (Column("number"), Column("value", True), Column("unit"), Column("source"))
    return DataTable("{} (compute capability {}.{})".format(device.name, *device.capability), columns, rows)


def _peak_lines(device: Device) -> Iterator[str]:
    peaks = peaks_of(device)
    per_clock = {
        "fp64": device.limits.fp64_lanes,
        "fp32": device.limits.fp32_lanes,
        "fp16": device.limits.fp16_lanes,
    }
    for precision, rate in peaks.gflops.items():
        yield (
            f"{NAMES[precision]} peak: 2 x {device.multiprocessors} multiprocessors x {device.clock_mhz:g} "
            f"MHz x {per_clock[precision]} FMAs per clock = {rate:.0f} GFLOP/s"
        )
    yield bandwidth_formula(device.memory_clock_mhz, device.memory_bus_bits)
    for level in ("shared", "l1", "l2"):
        if level in peaks.gb_s:
            yield f"{NAMES[level]}: {peaks.gb_s[level]:.0f} GB/s ({peaks.notes[level]})"
    if peaks.missing:
        yield f"no figure for {', '.join(NAMES[name] for name in peaks.missing)}"


def bandwidth_formula(clock_mhz: float, bus_bits: int) -> str:
    """Return the theoretical bandwidth with its arithmetic; the clock is half the data rate per pin."""
    rate = 2e-3 * clock_mhz * bus_bits / 8
    return f"memory: 2 x {clock_mhz:g} MHz x {bus_bits} bit / 8 = {rate:.4g} GB/s"


def _limit_lines(device: Device) -> Iterator[str]:
    limits = device.limits
    yield (
        f"a multiprocessor holds {limits.threads_per_sm} threads ({limits.warps_per_sm} warps), "
        f"{limits.blocks_per_sm} blocks, {limits.registers_per_sm} registers, {limits.shared_per_sm} bytes "
        "of shared memory"
    )
    yield (
        f"a block has at most {limits.threads_per_block} threads "
        f"({_extents(limits.block_dims)}), {limits.registers_per_block} registers, "
        f"{limits.shared_per_block_optin} bytes of shared memory; a thread has at most "
        f"{limits.registers_per_thread} registers"
    )
    yield f"a grid has at most {_extents(limits.grid_dims)} blocks"


def _extents(extents: tuple[int, ...]) -> str:
    return " x ".join(map(str, extents))


def print_present(present: Present, console: Console) -> None:
    """Print the bandwidth that clock and bus of this machine's GPU allow and what a copy reaches."""
    console.print()
    console.print(Text(present.description, style="bold"))
    if present.theoretical is not None:
        console.print(Text(f"  {bandwidth_formula(present.clock_khz / 1000, present.bus_bits)}"))
    share = f", {100 * present.measured / present.theoretical:.1f} % of that" if present.theoretical else ""
    console.print(Text(f"  a copy within the device reaches {present.measured * 1e-9:.4g} GB/s{share}"))


def device_json(device: Device) -> str:
    """Return a GPU's numbers with their sources, its limits and its peaks as JSON text."""
    peaks = peaks_of(device)
    record = {
        "key": device.key,
        "name": device.name,
        "aliases": list(device.aliases),
        "compute_capability": "{}.{}".format(*device.capability),
        "note": device.note,
        "numbers": {
            field: {"value": getattr(device, field), "unit": unit, "source": device.sources[field]}
            for field, (_, unit) in _NUMBERS.items()
            if getattr(device, field) is not None
        },
        "computed_bandwidth_gb_s": device.computed_bandwidth_gb_s,
        "peaks": {
            "gflops": dict(peaks.gflops),
            "gb_s": dict(peaks.gb_s),
            "missing": list(peaks.missing),
            "sources": dict(peaks.notes),
        },
        "limits": asdict(device.limits),
    }
    return json.dumps(record, indent=1)
