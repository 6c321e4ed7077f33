"""What `warpglass roofline` says: peaks, intensities, and what binds.

Belongs here: the words and tables of a roofline, and its JSON. The numbers are models/roofline.py's; the
picture is roofline_chart.py's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .. import devices
from ..models.kernel_time.limiters import WORDS
from ..models.roofline import BOTH, LEVELS, PRECISIONS, Peaks, Placed, Work, place, ridge
from ..records.display import Displayed
from .figures import format_bytes, format_seconds
from .fitting_table import FittingTable
from .tables import Column, DataTable, number, words

_SHORTEST = 1e-9  # seconds; counts that take less are an example's, given for their ratio
_MANY = 6  # works from which on a line each has to do
NAMES = (
    dict(WORDS)
    | {"dram": "DRAM", "l2": "L2", "l1": "L1", "shared": "shared memory"}
    | {name: name.upper() for name in PRECISIONS}
    | {BOTH: "L1 and shared memory, which are one"}
)
_NONE = "No floating-point operations"
_WHOSE = {"gpu": "measured", "modelled": "modelled"}


@dataclass(frozen=True, slots=True, repr=False)
class RooflineReport(Displayed):
    """Works on one GPU's roofline; `placed` has None for a work whose counts have no rate there."""

    peaks: Peaks
    works: tuple[Work, ...]
    placed: tuple[Placed | None, ...]

    def __repr__(self) -> str:
        """One line; `verdicts` says more."""
        bounds = ", ".join(f"{one.work.name} {short_bound(one)}" for one in self.placed[:_MANY] if one)
        more = f" and {len(self.placed) - _MANY} more" if len(self.placed) > _MANY else ""
        return f"<Roofline of {self.peaks.name}{bounds and ': '}{bounds}{more}>"

    @property
    def verdicts(self) -> Mapping[str, str]:
        """What binds each work and how fast it can be, in sentences, by its name."""
        return {one.work.name: " ".join(verdict(one)) for one in self.placed if one}

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know of works that were counted for another GPU."""
        others = dict.fromkeys(work.gpu for work in self.works if work.gpu not in ("", self.peaks.key))
        return tuple(
            f"Counted for {devices.get(gpu).name}: machine code, memory rules and caches are that GPU's."
            for gpu in others
        )

    def to_json(self) -> str:
        """Peaks (1e9 per second), ridge points (FLOP/byte) and every work as JSON text."""
        return json.dumps(_record(self), indent=1)


def roofline_report(works: Sequence[Work], peaks: Peaks) -> RooflineReport:
    """Return where works stand on a GPU's roofline."""
    return RooflineReport(peaks, tuple(works), tuple(place(work, peaks) for work in works))


# ---------------------------------------------------------------------------------------- on a terminal
def print_roofline(report: RooflineReport, console: Console) -> None:
    """Print the GPU's peaks and ridge points, then every work with what binds it."""
    peaks = report.peaks
    console.print(Text(f"Roofline of {peaks.name}", style="bold"))
    console.print()
    console.print(_peaks_table(peaks))
    if peaks.missing:
        missing = ", ".join(NAMES[name] for name in peaks.missing)
        console.print(Text(f"No rate is known for {missing}."))
    for sentence in report.remarks:
        console.print(Text(sentence))
    if len(report.works) > _MANY:
        console.print()
        console.print(_overview(report))
        return
    for work, placed in zip(report.works, report.placed, strict=True):
        console.print()
        console.print(Text(work.name, style="bold"))
        if placed is None:
            console.print(Text("  none of its counts has a rate here"))
            continue
        if any(level in placed.seconds for level in LEVELS):
            console.print(_levels_table(placed))
        for line in verdict(placed):
            console.print(Text(f"  {line}"))


def _peaks_table(peaks: Peaks) -> Table:
    """Bandwidths as rows, peaks as columns, ridge points in the cells."""
    table = FittingTable(box=None, padding=(0, 2, 0, 2), pad_edge=False)
    table.add_column("")
    table.add_column("GB/s", justify="right")
    for precision in peaks.gflops:
        table.add_column(f"{NAMES[precision]} ridge", justify="right")
    table.add_column("", overflow="fold")
    cells = [f"{rate:.0f} GFLOP/s" for rate in peaks.gflops.values()]
    table.add_row("", "", *cells, "")
    for level, bandwidth in peaks.gb_s.items():
        ridges = [f"{ridge(peaks, precision, level):.2f} FLOP/byte" for precision in peaks.gflops]
        table.add_row(NAMES[level], f"{bandwidth:.0f}", *ridges, peaks.notes.get(level, ""))
    return table


def _levels_table(placed: Placed) -> Table:
    timed = placed.least_seconds >= _SHORTEST
    table = FittingTable(box=None, padding=(0, 2, 0, 2), pad_edge=False)
    for heading in ("", "bytes", "FLOP/byte", "ridge", "at least" if timed else ""):
        table.add_column(heading, justify="right" if heading else "left")
    for level in (*LEVELS, BOTH):
        moved = placed.work.moved(level) if level != BOTH or BOTH in placed.seconds else None
        if moved is None:
            continue
        seconds = placed.seconds.get(level)
        table.add_row(
            f"  {'together' if level == BOTH else NAMES[level]}",
            f"{moved:.4g}",
            _number(placed.work.intensity(level)),
            _number(placed.ridge(level)),
            _time_text(seconds, moved) if timed else "",
            style="bold" if level == placed.bound else "",
        )
    return table


def _time_text(seconds: float | None, moved: float) -> str:
    if seconds is not None:
        return format_seconds(seconds)
    return "no rate" if moved else "0 ns"


def verdict(placed: Placed) -> Iterator[str]:
    """Yield what binds the work, what it can attain, and how much of that it reached, a sentence each."""
    work = placed.work
    yield _binding(placed)
    if placed.share_of_peak is not None:
        yield (
            f"It can attain {_number(placed.gflops)} GFLOP/s, {100 * placed.share_of_peak:.4g} % of the "
            f"peak of {_number(placed.peak_gflops)}."
        )
    if placed.least_seconds >= _SHORTEST:
        yield f"It needs at least {format_seconds(placed.least_seconds)}."
    if work.seconds is not None:
        yield from _reached(placed, work.seconds)


def _reached(placed: Placed, seconds: float) -> Iterator[str]:
    work, share = placed.work, placed.share_of_roof
    took = "The model says" if work.seconds_label == "modelled" else "It took"
    took = f"{took} {format_seconds(seconds)}"
    if share is None:
        yield f"{took} of {work.seconds_label} time, which says nothing about this GPU."
        return
    rate = f" = {_number(work.gflops)} GFLOP/s" if work.gflops else _moved_rate(placed, seconds)
    yield f"{took}{rate}: {100 * share:.4g} % of what it can attain."
    if share > 1:
        yield "That is more than the GPU can: the counts or the time are not those of this GPU."


def _moved_rate(placed: Placed, seconds: float) -> str:
    """Of work without operations, what it moves per second at the level that binds it."""
    moved = placed.work.moved(placed.bound) if placed.memory_bound else None
    return f" = {_number(moved / seconds * 1e-9)} GB/s" if moved else ""


def _binding(placed: Placed) -> str:
    """What binds, and on which side of the ridges the work is; without operations there are none."""
    if not placed.work.total_flops and placed.memory_bound:
        moved = format_bytes(round(placed.work.moved(placed.bound) or 0))
        products = placed.work.instructions.get("tensor")
        what = f"{_number(products)} multiply-adds of tensor cores" if products else _NONE
        return f"{what}; bound by {NAMES[placed.bound]}: it moves {moved} there."
    if placed.memory_bound:
        edge = _edge(placed, placed.bound, "left")
        return f"Memory-bound ({NAMES[placed.bound]}){edge and ': '}{edge}."
    if not placed.compute_bound:
        count = placed.work.instructions[placed.bound]
        what = "multiply-adds" if placed.bound == "tensor" else "instructions of warps"
        return f"Bound by {NAMES[placed.bound]}: {_number(count)} {what} take longest."
    levels = [level for level in LEVELS if level in placed.seconds]
    edges = [_edge(placed, level, "right", f" ({NAMES[level]})") for level in levels]
    known = ", ".join(filter(None, edges))
    return f"Compute-bound ({NAMES[placed.bound]}){known and ': '}{known}."


def short_bound(placed: Placed) -> str:
    """What binds, in a few words."""
    if placed.bound == BOTH:
        return "memory-bound, L1 and shared memory"
    kind = "memory" if placed.memory_bound else "compute" if placed.compute_bound else ""
    return f"{kind}-bound, {NAMES[placed.bound]}" if kind else f"bound by {NAMES[placed.bound]}"


def _edge(placed: Placed, level: str, side: str, name: str = "") -> str:
    edge, intensity = placed.ridge(level), placed.work.intensity(level)
    if edge is None or intensity is None:
        return ""
    return f"{_number(intensity)} FLOP/byte is {side} of the ridge at {_number(edge)}{name}"


def _overview(report: RooflineReport) -> Table:
    """Many works: a line each."""
    table = FittingTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("", overflow="fold")
    for heading in ("FLOP/byte\nof DRAM", "at least", "time", "", "% of that", "GFLOP/s"):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    table.add_column("bound by", overflow="fold")
    for work, placed in zip(report.works, report.placed, strict=True):
        if placed is None:
            table.add_row(Text(work.name), *["-"] * 6, "none of its counts has a rate here")
            continue
        share, known = placed.share_of_roof, work.known_seconds
        table.add_row(
            Text(work.name),
            _number(work.intensity("dram")),
            format_seconds(placed.least_seconds),
            format_seconds(known),
            _WHOSE[work.seconds_label] if known else "",
            "-" if share is None else f"{100 * share:.1f}",
            _number(work.gflops if known else placed.gflops or None),
            NAMES[placed.bound],
        )
    return table


def _number(value: float | None) -> str:
    """Return four digits, all of the whole ones, and no exponent where it can be helped."""
    if value is None:
        return "-"
    return f"{value:.0f}" if 9999.5 <= value < 1e9 else f"{value:.4g}"


# ---------------------------------------------------------------------------------------- as data
def roofline_tables(report: RooflineReport) -> list[DataTable]:
    """The GPU's peaks, bandwidths and ridge points; every work's bytes by level; what binds each."""
    tables = [_peaks_data(report.peaks)]
    if report.works:
        tables += [_levels_data(report), _verdicts_data(report)]
    return tables


def _peaks_data(peaks: Peaks) -> DataTable:
    columns = [Column("roof"), Column("GB/s", True)]
    columns += [Column(f"{NAMES[one]} ridge, FLOP/byte", True) for one in peaks.gflops]
    top = (
        words("peak, GFLOP/s"),
        number(None, ""),
        *(number(rate, f"{rate:.0f}") for rate in peaks.gflops.values()),
    )
    rows = [
        (
            words(NAMES[level]),
            number(bandwidth, f"{bandwidth:.0f}"),
            *(number(at := ridge(peaks, one, level), f"{at:.2f}") for one in peaks.gflops),
        )
        for level, bandwidth in peaks.gb_s.items()
    ]
    return DataTable(f"Roofline of {peaks.name}", tuple(columns), (top, *rows))


def _levels_data(report: RooflineReport) -> DataTable:
    headings = "bytes", "FLOP/byte", "ridge", "at least"
    rows = tuple(
        (
            words(work.name),
            words(NAMES[level]),
            *(
                number(value, _number(value))
                for value in (moved, work.intensity(level), placed.ridge(level) if placed else None)
            ),
            number(least := placed.seconds.get(level) if placed else None, format_seconds(least)),
        )
        for work, placed in zip(report.works, report.placed, strict=True)
        for level in LEVELS
        if (moved := work.bytes.get(level)) is not None
    )
    columns = (Column("kernel"), Column("level"), *(Column(name, True) for name in headings))
    return DataTable("Bytes by level", columns, rows)


def _verdicts_data(report: RooflineReport) -> DataTable:
    headings = "at most GFLOP/s", "at least", "time", "share of what it can attain"
    numbers = [Column(name, True) for name in headings]
    numbers.insert(3, Column("whose time"))
    columns = (Column("kernel"), Column("bound by"), *numbers)
    rows = tuple(
        (
            words(work.name),
            words(NAMES[placed.bound] if placed else None),
            number(most := (placed.gflops or None) if placed else None, _number(most)),
            number(least := placed.least_seconds if placed else None, format_seconds(least)),
            number(work.known_seconds, format_seconds(work.known_seconds)),
            words(_WHOSE[work.seconds_label] if work.known_seconds else None),
            number(share := placed.share_of_roof if placed else None, f"{100 * (share or 0):.4g} %"),
        )
        for work, placed in zip(report.works, report.placed, strict=True)
    )
    return DataTable("What binds", columns, rows)


# ---------------------------------------------------------------------------------------- JSON
def _record(report: RooflineReport) -> dict[str, Any]:
    peaks = report.peaks
    return {
        "gpu": peaks.name,
        "gflops": dict(peaks.gflops),
        "gb_s": dict(peaks.gb_s),
        "instructions": dict(peaks.instructions),
        "sources": dict(peaks.notes),
        "missing": list(peaks.missing),
        "ridges": {
            precision: {level: ridge(peaks, precision, level) for level in peaks.gb_s}
            for precision in peaks.gflops
        },
        "works": [
            _work_record(work, placed) for work, placed in zip(report.works, report.placed, strict=True)
        ],
    }


def _work_record(work: Work, placed: Placed | None) -> dict[str, Any]:
    record: dict[str, Any] = {
        "name": work.name,
        "flops": dict(work.flops),
        "bytes": dict(work.bytes),
        "instructions": dict(work.instructions),
        "seconds": work.seconds,
        "seconds_label": work.seconds_label if work.seconds is not None else None,
        "intensity": {level: work.intensity(level) for level in work.bytes},
    }
    if placed is not None:
        record |= {
            "bound": placed.bound,
            "memory_bound": placed.memory_bound,
            "attainable_gflops": placed.gflops,
            "least_seconds": placed.least_seconds,
            "share_of_peak": placed.share_of_peak,
            "share_of_attainable": placed.share_of_roof,
            "verdict": list(verdict(placed)),
        }
    return record
