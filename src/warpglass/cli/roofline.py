"""The command `roofline`: what bounds kernels on a GPU, from saved profiles or from counts that are given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError
from .export import CsvOption, LatexOption, MarkdownOption, print_tables, table_format
from .options import JsonInsteadOption, ModelOption, OldDeviceOption, PlotOption, calculated_for, find_gpu

if TYPE_CHECKING:
    from ..models.roofline import Peaks, Work


def roofline(
    profiles: Annotated[
        list[Path] | None, typer.Argument(metavar="[PROFILE.json ...]", help="Saved profiles to place.")
    ] = None,
    flops: Annotated[float | None, typer.Option(min=0, help="Operations; an FMA is two.")] = None,
    bytes_: Annotated[
        float | None, typer.Option("--bytes", min=0, help="Bytes moved to and from DRAM.")
    ] = None,
    l2_bytes: Annotated[float | None, typer.Option(min=0, help="Bytes moved to and from L2.")] = None,
    l1_bytes: Annotated[float | None, typer.Option(min=0, help="Bytes moved to and from L1.")] = None,
    shared_bytes: Annotated[float | None, typer.Option(min=0, help="Bytes of shared memory moved.")] = None,
    seconds: Annotated[float | None, typer.Option(help="The time that it took on that GPU.")] = None,
    precision: Annotated[str, typer.Option(help="fp64, fp32 or fp16.")] = "fp32",
    name: Annotated[str, typer.Option(help="What to call it.")] = "kernel",
    model: ModelOption = "h100",
    device: OldDeviceOption = None,
    peak: Annotated[float | None, typer.Option(help="Another peak of that precision, in GFLOP/s.")] = None,
    bandwidth: Annotated[float | None, typer.Option(help="Another DRAM bandwidth, in GB/s.")] = None,
    plot: PlotOption = None,
    csv: CsvOption = False,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    json_output: JsonInsteadOption = False,
) -> None:
    """Say whether kernels are bound by memory or by computing, and how fast they can be."""
    from ..models.roofline import peaks_of
    from ..report.console import stdout_console
    from ..report.pictures import check_ending
    from ..report.roofline import print_roofline, roofline_json, roofline_report, roofline_tables

    form = table_format(json=json_output, csv=csv, markdown=markdown, latex=latex)
    if plot is not None:
        check_ending(plot)
    _check_positive(seconds=seconds, peak=peak, bandwidth=bandwidth)
    moved = {"dram": bytes_, "l2": l2_bytes, "l1": l1_bytes, "shared": shared_bytes}
    works = _given_work(name, precision, flops, moved, seconds)
    works += [work for path in profiles or () for work in _saved_works(path)]
    peaks = _changed(peaks_of(find_gpu(calculated_for(model, device))), precision, peak, bandwidth)
    report = roofline_report(works, peaks)
    if json_output:
        typer.echo(roofline_json(report))
    elif form is not None:
        print_tables(roofline_tables(report), form)
    else:
        print_roofline(report, stdout_console())
    if plot is not None:
        from ..report.roofline_chart import draw_roofline

        draw_roofline(report, plot)


def _check_positive(**numbers: float | None) -> None:
    for name, number in numbers.items():
        if number is not None and not 0 < number < inf:
            raise ArgumentError(f"--{name} is {number}; it must be above 0")


def _given_work(
    name: str,
    precision: str,
    flops: float | None,
    moved: Mapping[str, float | None],
    seconds: float | None,
) -> list[Work]:
    """Return the work of the options, [] if none of its counts was given."""
    from ..models.roofline import PRECISIONS, Work

    if precision not in PRECISIONS:
        raise ArgumentError(f"--precision {precision!r}; there is {', '.join(PRECISIONS)}")
    counted = {level: count for level, count in moved.items() if count is not None}
    if flops is None and not counted:
        if seconds is not None:
            raise ArgumentError("--seconds needs what was done in that time: --flops and --bytes")
        return []
    if not flops and not any(counted.values()):
        raise ArgumentError("neither operations nor bytes: a roofline needs one of them above 0")
    return [Work(name, {} if flops is None else {precision: flops}, counted, seconds)]


def _saved_works(path: Path) -> tuple[Work, ...]:
    from ..models.roofline import points_from_profile

    try:
        record: Any = json.loads(path.read_text("utf-8"))
        if not isinstance(record, dict):
            raise ValueError("it is no JSON object")
        return points_from_profile(record)
    except OSError as error:
        raise ArgumentError(f"{path}: {error.strerror}") from None
    except (ValueError, TypeError) as problem:
        raise ArgumentError(f"{path} is no saved profile: {problem}") from None


def _changed(peaks: Peaks, precision: str, peak: float | None, bandwidth: float | None) -> Peaks:
    """Return peaks with a peak or a bandwidth of the user's own."""
    changes = [text for text, given in (("peak", peak), ("bandwidth", bandwidth)) if given is not None]
    if not changes:
        return peaks
    return replace(
        peaks,
        name=f"{peaks.name} with another {' and '.join(changes)}",
        gflops={**peaks.gflops, **({precision: peak} if peak is not None else {})},
        gb_s={**peaks.gb_s, **({"dram": bandwidth} if bandwidth is not None else {})},
    )
