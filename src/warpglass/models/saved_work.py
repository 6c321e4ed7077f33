"""What saved profiles and benches put on a roofline.

Belongs here: from a record to its work and to the times that it knows. A time counts on the GPU that it is of
only, and work that was counted for one GPU is placed on another one's roofline only if somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import devices
from ..records.bench import Record, Row
from ..records.kernel_time import ModelledTime
from ..records.profile import Profile
from ..records.work import CountedWork
from .roofline import PASS, Work

# What a profile's metrics (nvprof's names) say of operations and of bytes, where it has no work of its own:
# transactions are 32-byte sectors, except in shared memory, where one moves up to 128 bytes. Atomics are
# counted in lines, not in sectors; what they move shows at the L2.
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
    "shared": (PASS, ("shared_load_transactions", "shared_store_transactions")),
}
_PRECISIONS = {"float64": "fp64", "float32": "fp32", "float16": "fp16"}


@dataclass(frozen=True, slots=True)
class Time:
    """Seconds of a `label` ("gpu", "modelled" or "engine") on a GPU by its short name, "" if unknown."""

    gpu: str
    seconds: float
    label: str


@dataclass(frozen=True, slots=True)
class SavedWork:
    """One kernel of a record: its counts, the GPU that they are for ("" if unknown), the times it knows."""

    name: str
    gpu: str
    flops: Mapping[str, float]
    bytes: Mapping[str, float]
    instructions: Mapping[str, float] = field(default_factory=dict[str, float])
    times: tuple[Time, ...] = ()

    def on(self, gpu: str) -> Work:
        """The work with its time on a GPU: measured there, else modelled for it, else the engine's."""
        order = ("gpu", "modelled", "engine")
        fits = [one for one in self.times if one.label == "engine" or one.gpu in ("", gpu)]
        best = min(fits, key=lambda one: order.index(one.label), default=None)
        return Work(
            self.name,
            self.flops,
            self.bytes,
            best.seconds if best else None,
            best.label if best else "gpu",
            self.instructions,
            self.gpu,
        )


def works_of_profile(profile: Profile) -> tuple[SavedWork, ...]:
    """The work of a profile, () if it counted nothing."""
    work = profile.work or _from_metrics(profile.metrics)
    if work is None:
        return ()
    gpu = _key(profile.device) if profile.time_label == "gpu" else ""
    times = (Time(gpu, profile.seconds, profile.time_label), *_modelled((profile.modelled,)))
    return (_saved(profile.kernel, profile.model, work, times),)


def works_of_bench(record: Record) -> tuple[SavedWork, ...]:
    """The work of each rung, in the first language that has it: all do the same; libraries have none."""
    counted = _key(record.counted_for or "")
    found: dict[tuple[str, str, bool], SavedWork] = {}
    for row in record.rows:
        work = row.work or _ideal(row)
        if row.grid is None or row.failure is not None or work is None or not row.seconds:
            continue
        gpu = _key(record.device) if row.label == "gpu" else ""
        times = (Time(gpu, row.seconds, row.label or "engine"), *_modelled(row.modelled))
        found.setdefault((row.table, row.rung, row.as_written), _saved(row.rung, counted, work, times))
    return tuple(found.values())


def works_of_numbers(record: Mapping[str, Any]) -> tuple[SavedWork, ...]:
    """The works of a profile that somebody wrote by hand, or another tool.

    It has "kernel" (or "name"), "metrics" ({nvprof's name: number}), and optionally "seconds" and
    "time_label" (whose time it is); or "profiles", a list of such. Raises ValueError naming what is missing.
    """
    if "profiles" in record:
        return tuple(work for entry in record["profiles"] for work in works_of_numbers(entry))
    metrics = record.get("metrics")
    if not isinstance(metrics, Mapping):
        raise ValueError('it has no "metrics" (a saved profile has: names of nvprof and their numbers)')
    work = _from_metrics({str(name): float(value) for name, value in metrics.items()})
    if work is None:
        raise ValueError("its metrics count neither operations (flop_count_sp, ...) nor transactions")
    name = str(record.get("kernel") or record.get("name") or "kernel")
    label, seconds = str(record.get("time_label", "gpu")), record.get("seconds")
    if label not in ("gpu", "engine"):
        raise ValueError(f'its "time_label" is {label!r}; a time is of "gpu" or of "engine"')
    times = () if seconds is None else (Time("", float(seconds), label),)
    return (_saved(name, "", work, times),)


def _saved(name: str, gpu: str, work: CountedWork, times: tuple[Time, ...]) -> SavedWork:
    passes = {level: PASS * count for level, count in work.passes.items()}
    flops = {name: count for name, count in work.flops.items() if count}
    bytes_ = {level: count for level, count in {**work.bytes, **passes}.items() if count}
    return SavedWork(name, gpu, flops, bytes_, work.instructions, times)


def _key(name: str) -> str:
    """The short name of a GPU that a record names in full, "" if nobody knows it."""
    try:
        return devices.get(name).key
    except devices.UnknownDevice:
        return ""


def _modelled(times: tuple[ModelledTime | None, ...]) -> Iterator[Time]:
    for one in times:
        if one is not None and one.seconds is not None:
            yield Time(one.device, one.seconds, "modelled")


def _from_metrics(metrics: Mapping[str, float]) -> CountedWork | None:
    flops = {precision: metrics[name] for precision, name in _FLOPS.items() if name in metrics}
    moved = {
        level: float(size * sum(metrics.get(name, 0.0) for name in names))
        for level, (size, names) in _TRANSACTIONS.items()
        if any(name in metrics for name in names)
    }
    passes = {level: moved.pop(level) / PASS for level in ("l1", "shared") if level in moved}
    issue = {"issue": metrics["inst_executed"]} if "inst_executed" in metrics else {}
    if not flops and not moved and not passes:
        return None
    return CountedWork(flops=flops, bytes=moved, passes=passes, instructions=issue)


def _ideal(row: Row) -> CountedWork | None:
    """The least operations and bytes of a rung's problem, where nothing was counted."""
    if not row.seconds or not row.gb_per_s:
        return None
    precision = _PRECISIONS.get(row.dtype)
    flops = {precision: row.gflop_per_s * 1e9 * row.seconds} if precision and row.gflop_per_s else {}
    return CountedWork(flops=flops, bytes={"dram": row.gb_per_s * 1e9 * row.seconds})
