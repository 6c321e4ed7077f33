"""What `warpglass occupancy` says: limits, what binds, and what would change it.

Belongs here: the words and tables of an occupancy, and its JSON. The numbers are models/occupancy.py's; the
picture of a curve is occupancy_chart.py's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..models.nsight_occupancy import nsight_metrics
from ..models.occupancy import (
    BARRIERS,
    BLOCKS,
    REGISTERS,
    RESOURCES,
    SHARED,
    WARPS,
    Demand,
    Occupancy,
    best_block,
    curve,
    most_shared,
)
from ..models.occupancy_gain import gains
from ..records.display import Displayed
from .fitting_table import FittingTable
from .tables import Cell, Column, DataTable, number, words

_BAR, _SHORTEST_BAR = 40, 8  # characters of a full bar
_BESIDE_BAR = 31  # threads before it; share, blocks and a limit behind


@dataclass(frozen=True, slots=True, repr=False)
class OccupancyReport(Displayed):
    """An occupancy and what belongs to it; `fit` has the blocks, warps and limits.

    `kernel` is None for bare numbers; `block` are its extents as given. `multiprocessors` is None where only
    a compute capability is known, `grid` (blocks) where none was given. `compiled` is what the compiler said,
    for JSON; `remarks` are further sentences.
    """

    kernel: str | None
    gpu: str
    block: tuple[int, ...]
    fit: Occupancy
    shared_per_thread: int = 0
    multiprocessors: int | None = None
    grid: int | None = None
    compiled: Mapping[str, Any] = field(default_factory=dict[str, Any])
    refused: str | None = None

    def __repr__(self) -> str:
        """One line; `verdict()` says more."""
        subject = f" of {self.kernel}" if self.kernel else ""
        fit = self.fit
        fits = (
            f"{_percent(fit.share)}, {_count(fit.blocks, 'block')} of {_count(fit.demand.threads, 'thread')}"
        )
        return f"<Occupancy{subject} on {self.gpu}: {fits}, limited by {_joined(fit.limiting)}>"

    def curve(self) -> tuple[Occupancy, ...]:
        """The same at every block size."""
        return curve(self.fit.demand, self.fit.limits, self.shared_per_thread)

    def verdict(self) -> tuple[str, ...]:
        """What fits, why no more, and what would change it, in sentences."""
        return tuple(line.strip() for line in _verdict(self))

    def to_json(self, with_curve: bool = False) -> str:
        """All of it as JSON text (`occupancy_record`)."""
        return json.dumps(occupancy_record(self, with_curve), indent=1)


# ---------------------------------------------------------------------------------------- on a terminal
def print_occupancy(report: OccupancyReport, console: Console) -> None:
    """Print what fits, the table of limits, and what would change it."""
    subject = f"Occupancy of {report.kernel}" if report.kernel else "Occupancy"
    console.print(Text(f"{subject} on {report.gpu}", style="bold"))
    console.print(Text(f"Block: {_block_text(report)}"))
    if report.compiled:
        console.print(Text(_machine_code_text(report)))
    console.print()
    console.print(_limits_table(report.fit))
    console.print()
    for line in _verdict(report):
        console.print(Text(line))


def print_curve(report: OccupancyReport, console: Console) -> None:
    """Print a bar for every whole number of warps that a block may have; ">" marks the block asked for."""
    own = report.fit.demand.warps
    bar = max(_SHORTEST_BAR, min(_BAR, console.width - _BESIDE_BAR))
    console.print()
    console.print(
        Text("Occupancy over block sizes (threads, share of warps, blocks, limited by)", style="bold")
    )
    for fit in report.curve()[31::32]:
        filled = round(bar * fit.share)
        mark = ">" if fit.demand.warps == own else " "
        said = f"{fit.blocks:3d}  {_joined(fit.limiting)}" if fit.blocks else "  -  does not fit"
        line = f"{mark}{fit.demand.threads:5d} "
        console.print(
            Text(line).append("█" * filled, style="cyan").append("·" * (bar - filled), style="dim")
            + Text(f" {100 * fit.share:5.1f} % {said}")
        )
    if report.multiprocessors is not None:
        best = best_block(
            report.fit.demand, report.fit.limits, report.multiprocessors, report.shared_per_thread
        )
        console.print(
            Text(
                f"Best: {best.threads} threads, {best.blocks_per_sm} blocks per multiprocessor; "
                f"a grid of {best.grid} blocks fills the GPU once."
                if best.threads
                else "No block size fits."
            )
        )


def _block_text(report: OccupancyReport) -> str:
    demand = report.fit.demand
    extents = "x".join(map(str, report.block))
    threads = f"{extents} = {demand.threads}" if len(report.block) > 1 else extents
    parts = [f"{_count(threads, 'thread', demand.threads)} ({_count(demand.warps, 'warp')})"]
    parts.append(f"{demand.registers} registers per thread" if demand.registers else "registers not given")
    if demand.static_shared and demand.dynamic_shared:
        kinds = f" ({demand.static_shared} static, {demand.dynamic_shared} dynamic)"
    else:
        kinds = ""
    parts.append(f"{demand.shared} bytes of shared memory{kinds}" if demand.shared else "no shared memory")
    return ", ".join(parts)


def _machine_code_text(report: OccupancyReport) -> str:
    code, given = report.compiled, report.fit.demand.registers
    parts = [f"{code['registers']} registers", f"{code['static_shared']} bytes of static shared memory"]
    if code["local"]:
        parts.append(f"{code['local']} bytes of stack per thread")
    if code["spill_stores"] or code["spill_loads"]:
        parts.append(f"spills: {code['spill_stores']} bytes stored, {code['spill_loads']} loaded")
    else:
        parts.append("no spills")
    text = f"Machine code for {code['target']} ({code['assembler']}): {', '.join(parts)}."
    return text if given == code["registers"] else f"{text} Counted with the {given} registers given."


def occupancy_tables(report: OccupancyReport, with_curve: bool = False) -> list[DataTable]:
    """What each resource allows, what fits, and what would change it; with the curve, all block sizes."""
    subject = f"Occupancy of {report.kernel}" if report.kernel else "Occupancy"
    fit = report.fit
    columns = Column("limit"), Column("blocks", True), Column("a block takes"), Column("a multiprocessor has")
    limits = tuple(
        (
            words(name, "bad" if name in fit.limiting else ""),
            number(fit.allowed[name], str(fit.allowed[name])),
            *map(words, cells),
        )
        for name, cells in _takes_and_has(fit).items()
    )
    tables = [
        DataTable(f"{subject} on {report.gpu}: {_block_text(report)}", columns, limits),
        _fits_table("What fits", [fit]),
    ]
    changes = gains(fit)
    if changes:
        rows = tuple((words(_change(fit.demand, one.demand)), _share(one.share)) for one in changes)
        tables.append(DataTable("What would change it", (Column("change"), Column("occupancy", True)), rows))
    if with_curve:
        tables.append(_fits_table("Block sizes", report.curve()[31::32]))
    return tables


def _fits_table(title: str, fits: Sequence[Occupancy]) -> DataTable:
    """How often blocks of some sizes fit."""
    headings = "threads", "blocks", "warps", "occupancy", "occupancy by threads"
    rows = tuple(
        (
            *(number(count, f"{count}") for count in (one.demand.threads, one.blocks, one.warps)),
            _share(one.share),
            _share(one.thread_share),
            words(", ".join(one.limiting)),
        )
        for one in fits
    )
    return DataTable(title, (*(Column(name, True) for name in headings), Column("limited by")), rows)


def _share(share: float) -> Cell:
    return number(share, _percent(share))


def _takes_and_has(fit: Occupancy) -> dict[str, tuple[str, str]]:
    """By resource, what a block takes and what a multiprocessor has; without those that do not count."""
    demand, limits = fit.demand, fit.limits
    reserved = f" ({limits.shared_reserved} for the system)" if limits.shared_reserved else ""
    rows = {
        REGISTERS: (f"{fit.allocated_registers}", f"{limits.registers_per_sm}"),
        WARPS: (f"{demand.warps}", f"{limits.warps_per_sm}"),
        BLOCKS: ("1", f"{limits.blocks_per_sm}"),
        SHARED: (f"{fit.allocated_shared} bytes{reserved}", f"{fit.shared_per_sm} bytes"),
        BARRIERS: (f"{demand.barriers}", f"{limits.barriers_per_sm or '-'}"),
    }
    return {name: rows[name] for name in RESOURCES if name != BARRIERS or fit.allowed[BARRIERS] is not None}


def _limits_table(fit: Occupancy) -> Table:
    table = FittingTable(box=None, padding=(0, 2, 0, 2), pad_edge=False)
    for heading in ("limit", "blocks"):
        table.add_column(heading, justify="right" if heading == "blocks" else "left")
    table.add_column("a block takes")
    table.add_column("a multiprocessor has")
    for name, texts in _takes_and_has(fit).items():
        allowed = fit.allowed[name]
        style = "bold" if name in fit.limiting else ""
        cells = (name, "no limit" if allowed is None else str(allowed), *texts)
        table.add_row(*(Text(cell, style=style) for cell in cells))
    return table


def _verdict(report: OccupancyReport) -> Iterator[str]:
    fit, demand, limits = report.fit, report.fit.demand, report.fit.limits
    if fit.blocks == 0:
        yield "Such a block cannot run: " + "; ".join(why_impossible(report)) + "."
    else:
        yield (
            f"{_count(fit.blocks, 'block')} at once = {fit.warps} of {limits.warps_per_sm} warps: "
            f"occupancy {_percent(fit.share)}, limited by {_joined(fit.limiting)}."
        )
        if fit.thread_share != fit.share:
            yield (
                f"By threads it is {_percent(fit.thread_share)} ({fit.blocks * demand.threads} of "
                f"{limits.threads_per_sm}): {_count(demand.threads, 'thread')} fill "
                f"{demand.threads / 32:g} warps, but take {demand.warps}."
            )
        if report.grid is not None and report.multiprocessors is not None:
            at_once = fit.blocks * report.multiprocessors
            yield (
                f"The grid of {_count(report.grid, 'block')} is {report.grid / at_once:.2f} waves of "
                f"{at_once} blocks on {report.multiprocessors} multiprocessors."
            )
        if demand.shared > limits.shared_per_block:
            yield (
                f"More than {limits.shared_per_block} bytes of shared memory: the launch has to ask for it "
                "(cudaFuncAttributeMaxDynamicSharedMemorySize)."
            )
        if report.refused:
            yield f"Even so a launch is refused: {report.refused}."
    for better in gains(fit):
        yield f"  {_change(demand, better.demand)} gives {_percent(better.share)}{_means(better, demand)}"


def why_impossible(report: OccupancyReport) -> tuple[str, ...]:
    """Return why not even one block fits, one text per reason; () if one does."""
    fit, demand, limits = report.fit, report.fit.demand, report.fit.limits
    reasons: list[str] = []
    if fit.allowed[WARPS] == 0:
        extents = "x".join(map(str, report.block))
        shown = f"{extents} is {demand.threads} threads" if len(report.block) > 1 else f"{extents} threads"
        reasons.append(
            f"{shown}, but a block has at most {limits.threads_per_block} and a multiprocessor holds "
            f"{limits.threads_per_sm}"
        )
    if demand.registers > limits.registers_per_thread:
        reasons.append(
            f"{demand.registers} registers per thread, but there are at most {limits.registers_per_thread}"
        )
    elif fit.allowed[REGISTERS] == 0:
        reasons.append(
            f"{demand.threads} threads of {demand.registers} registers take {fit.allocated_registers} "
            f"registers as allocated, but a block has at most {limits.registers_per_block}"
        )
    if fit.allowed[SHARED] == 0:
        reasons.append(
            f"{demand.shared} bytes of shared memory, but a block has at most {most_shared(demand, limits)}"
        )
    if fit.allowed[BARRIERS] == 0:
        reasons.append(f"{demand.barriers} barriers, but a multiprocessor has {limits.barriers_per_sm}")
    return tuple(reasons)


def _change(old: Demand, new: Demand) -> str:
    parts: list[str] = []
    if new.registers != old.registers:
        parts.append(f"registers {old.registers} -> {new.registers}")
    if new.shared != old.shared:
        parts.append(f"shared memory {old.shared} -> {new.shared} bytes")
    if new.threads != old.threads:
        parts.append(f"block {old.threads} -> {new.threads} threads")
    if new.carveout != old.carveout:
        parts.append(f"no preference for a carve-out (now {old.carveout} %)")
    return " and ".join(parts)


def _means(better: Occupancy, old: Demand) -> str:
    """Return how the compiler is told to use fewer registers, if that is the change."""
    if better.demand.registers == old.registers:
        return ""
    return f" (__launch_bounds__({better.demand.threads}, {better.blocks}))"


def _joined(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def _count(number: int | str, noun: str, value: int | None = None) -> str:
    return f"{number} {noun}{'' if (number if value is None else value) == 1 else 's'}"


# ---------------------------------------------------------------------------------------- JSON
def occupancy_record(report: OccupancyReport, with_curve: bool = False) -> dict[str, Any]:
    """Return all of it as data: sizes in bytes, shares from 0 to 1, limits None where there is none."""
    fit, limits = report.fit, report.fit.limits
    record: dict[str, Any] = {
        "kernel": report.kernel,
        "gpu": report.gpu,
        "compute_capability": "{}.{}".format(*limits.capability),
        "block": list(report.block),
        **asdict(fit.demand),
        **_numbers(fit),
        "limits": dict(fit.allowed),
        "allocated_registers": fit.allocated_registers,
        "allocated_shared": fit.allocated_shared,
        "shared_per_multiprocessor": fit.shared_per_sm,
        "impossible": list(why_impossible(report)),
        "gains": [{"change": _change(fit.demand, one.demand), "occupancy": one.share} for one in gains(fit)],
        "nsight": nsight_metrics(fit, report.grid, report.multiprocessors),
        "compiled": dict(report.compiled),
        "refused": report.refused,
    }
    if report.multiprocessors is not None:
        best = best_block(fit.demand, limits, report.multiprocessors, report.shared_per_thread)
        record["best_block"] = asdict(best)
    if with_curve:
        record["curve"] = [{"threads": one.demand.threads, **_numbers(one)} for one in report.curve()]
    return record


def _numbers(fit: Occupancy) -> dict[str, Any]:
    return {
        "active_blocks": fit.blocks,
        "active_warps": fit.warps,
        "occupancy": fit.share,
        "thread_occupancy": fit.thread_share,
        "limiting": list(fit.limiting),
    }
