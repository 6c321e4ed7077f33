"""What a GPU is: its numbers and the limits of its compute capability, read from the tables beside this file.

Belongs here: the Device and Limits records and the reading of TOML. Does not belong here: what follows
from the numbers (occupancy and rooflines are models/, refusing a launch is engine/launch/limits.py).

One file in gpus/ describes one GPU, each number with its source; compute_capability.toml holds what all
GPUs of one capability share; sources.toml says what the source tags mean.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

_KIB = 1024
_TABLES = Path(__file__).parent
Capability = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Limits:
    """What all devices of one compute capability share; sizes in bytes, registers of 32 bits."""

    capability: Capability
    # occupancy
    threads_per_sm: int
    blocks_per_sm: int
    registers_per_sm: int
    registers_per_block: int
    registers_per_thread: int
    register_unit: int  # allocation step, per warp (per block on 1.x)
    sub_partitions: int
    shared_per_sm: int
    shared_per_block: int  # without opting in
    shared_per_block_optin: int
    shared_unit: int
    shared_reserved: int  # taken from each block by the system
    carveouts: tuple[int, ...]  # sizes of shared memory per multiprocessor to choose from; () before 7.0
    driver_carveout: int | None  # the driver's own choice (see the table); None where it is not known
    barriers_per_sm: int  # 0 where they are no limit
    # launches
    threads_per_block: int
    block_dims: tuple[int, int, int]
    grid_dims: tuple[int, int, int]
    # results per clock and multiprocessor (an FMA is one)
    fp32_lanes: int
    fp64_lanes: int
    fp16_lanes: int  # without tensor cores; 0 where there is none or it is not known
    int32_lanes: int
    special_lanes: int
    schedulers: int
    shared_bytes: int  # per clock and multiprocessor
    l1_bytes: int  # likewise; 0 where nobody measured it
    timing: Mapping[str, float] = field(
        hash=False
    )  # for the model of kernel times, by the columns of the table

    @property
    def warps_per_sm(self) -> int:
        """The most warps that a multiprocessor holds at once."""
        return self.threads_per_sm // 32


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU model. `sources` maps the name of each number to its source tag.

    Clocks in MHz (the shader clock up to compute capability 2.x). `memory_clock_mhz` is half the data
    rate per pin, as CUDA reports it, so that bandwidth is 2 * clock * bus / 8; `bandwidth_gb_s` is the
    published figure, in 1e9 bytes per second.
    """

    key: str
    name: str
    aliases: tuple[str, ...]
    limits: Limits
    multiprocessors: int
    clock_mhz: float
    memory_type: str
    memory_gb: float
    memory_bus_bits: int
    memory_clock_mhz: float
    bandwidth_gb_s: float
    l2_kib: int
    note: str
    sources: Mapping[str, str]
    l2_bandwidth_gb_s: float | None = None  # as measured, where it was
    host_link_gb_s: float | None = None  # of its PCI Express, in one direction, 1e9 bytes per second
    kernel_time: Mapping[str, float] = field(default_factory=dict[str, float])  # measured by calibration

    @property
    def capability(self) -> Capability:
        """The compute capability, e.g. (9, 0)."""
        return self.limits.capability

    @property
    def fp32_gflops(self) -> float:
        """Peak of FP32 in 1e9 operations per second, an FMA counted as two."""
        return 2 * self.per_second(self.limits.fp32_lanes)

    @property
    def fp64_gflops(self) -> float:
        """Peak of FP64 in 1e9 operations per second, an FMA counted as two; 0 where there is no FP64."""
        return 2 * self.per_second(self.limits.fp64_lanes)

    @property
    def fp16_gflops(self) -> float:
        """Peak of FP16 without tensor cores, likewise; 0 where there is none or it is not known."""
        return 2 * self.per_second(self.limits.fp16_lanes)

    @property
    def shared_bandwidth_gb_s(self) -> float:
        """Peak of shared memory over all multiprocessors, in 1e9 bytes per second."""
        return self.per_second(self.limits.shared_bytes)

    @property
    def l1_bandwidth_gb_s(self) -> float | None:
        """Peak of L1 hits over all multiprocessors, in 1e9 bytes per second; None if nobody measured it."""
        return self.per_second(self.limits.l1_bytes) or None

    def per_second(self, per_clock: int) -> float:
        """What every multiprocessor does `per_clock` times a clock, in 1e9 per second."""
        return 1e-3 * self.multiprocessors * self.clock_mhz * per_clock

    @property
    def computed_bandwidth_gb_s(self) -> float:
        """Bandwidth from memory clock and bus width, in 1e9 bytes per second."""
        return 2e-3 * self.memory_clock_mhz * self.memory_bus_bits / 8


@cache
def all_devices() -> Mapping[str, Device]:
    """Every GPU in gpus/ by its key (the file's name), oldest compute capability first."""
    devices = [_device(path.stem, _read(path)) for path in _TABLES.glob("gpus/*.toml")]
    devices.sort(key=lambda device: (device.capability, device.key))
    return {device.key: device for device in devices}


_FOUND = frozenset(("key", "limits", "sources", "note", "kernel_time"))  # what a table need not say of a GPU


def _device(key: str, table: Mapping[str, Any]) -> Device:
    measured: dict[str, Any] = table.get("kernel_time", {})
    numbers: dict[str, Any] = {
        name: entry for name, entry in table.items() if isinstance(entry, dict) and name != "kernel_time"
    }
    of_model = {f"kernel_time.{name}": entry for name, entry in measured.items()}
    needed = {one.name for one in fields(Device) if one.default is MISSING} - _FOUND | {"compute_capability"}
    if missing := sorted(needed - table.keys()):
        raise ValueError(f"gpus/{key}.toml says nothing of {', '.join(missing)}")
    if unknown := sorted(numbers.keys() - {one.name for one in fields(Device)}):
        raise ValueError(f"gpus/{key}.toml has {', '.join(unknown)}, which no GPU has")
    return Device(
        key=key,
        name=table["name"],
        aliases=tuple(table["aliases"]),
        limits=limits_of(_capability(table["compute_capability"])),
        note=table.get("note", ""),
        sources={name: entry["source"] for name, entry in (numbers | of_model).items()},
        kernel_time={name: float(entry["value"]) for name, entry in measured.items()},
        **{name: entry["value"] for name, entry in numbers.items()},
    )


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8"))


@cache
def source_texts() -> Mapping[str, str]:
    """What each source tag means."""
    return _read(_TABLES / "sources.toml")


# ---------------------------------------------------------------------------------------- capabilities
@cache
def _tables() -> Mapping[str, Any]:
    return _read(_TABLES / "compute_capability.toml")


def _capability(text: str) -> Capability:
    major, minor = text.split(".")
    return int(major), int(minor)


def capabilities() -> tuple[Capability, ...]:
    """The compute capabilities whose limits are known, oldest first."""
    rows = (_capability(name) for name in _tables()["occupancy"] if name[0].isdigit())
    return tuple(sorted(rows))


@cache
def limits_of(capability: Capability) -> Limits:
    """The limits of a compute capability; raises KeyError where they are unknown."""
    if capability not in capabilities():
        raise KeyError(capability)
    row = "{}.{}".format(*capability)
    tables = _tables()
    fits = dict(zip(tables["occupancy"]["columns"], tables["occupancy"][row], strict=True))
    rates = dict(zip(tables["throughput"]["columns"], tables["throughput"][row], strict=True))
    launch, timing = _row_since("launch", capability), _row_since("timing", capability)
    return Limits(
        capability=capability,
        threads_per_sm=fits["threads_sm"],
        blocks_per_sm=fits["blocks_sm"],
        registers_per_sm=fits["regs_sm"],
        registers_per_block=fits["regs_blk"],
        registers_per_thread=fits["regs_thread"],
        register_unit=fits["unit"],
        sub_partitions=fits["sub"],
        shared_per_sm=fits["smem_sm"] * _KIB,
        shared_per_block=fits["smem_blk"] * _KIB,
        shared_per_block_optin=fits["optin"] * _KIB,
        shared_unit=fits["gran"],
        shared_reserved=fits["resv"],
        carveouts=tuple(size * _KIB for size in tables["carveouts"].get(row, ())),
        driver_carveout=tables["driver_carveout"].get(row),
        barriers_per_sm=fits["bars"],
        threads_per_block=launch["threads_block"],
        block_dims=(launch["block_x"], launch["block_y"], launch["block_z"]),
        grid_dims=(launch["grid_x"], launch["grid_y"], launch["grid_z"]),
        fp32_lanes=rates["fp32"],
        fp64_lanes=rates["fp64"],
        fp16_lanes=rates["fp16"],
        int32_lanes=rates["int32"],
        special_lanes=rates["special"],
        schedulers=rates["schedulers"],
        shared_bytes=rates["shared_bytes"],
        l1_bytes=rates["l1_bytes"],
        timing=timing,
    )


def _row_since(table: str, capability: Capability) -> dict[str, Any]:
    """A table's row of the newest capability not above this one, by column."""
    rows = _tables()[table]
    since = max(_capability(name) for name in rows if name[0].isdigit() and _capability(name) <= capability)
    return dict(zip(rows["columns"], rows["{}.{}".format(*since)], strict=True))
