"""The command `roofline`: what bounds kernels on a GPU, from saved records or from counts that are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ArgumentError
from .export import (
    CsvOption,
    HtmlOption,
    LatexOption,
    MarkdownOption,
    check_page,
    draw,
    print_tables,
    table_format,
    write_made,
)
from .options import JsonInsteadOption, OldDeviceOption, PlotOption, calculated_for

if TYPE_CHECKING:
    from ..models.roofline import Peaks, Work


def roofline(
    records: Annotated[
        list[Path] | None, typer.Argument(metavar="[RECORD.json ...]", help="Saved profiles and benches.")
    ] = None,
    flops: Annotated[float | None, typer.Option(min=0, help="Operations; an FMA is two.")] = None,
    bytes_: Annotated[
        float | None, typer.Option("--bytes", min=0, help="Bytes moved to and from DRAM.")
    ] = None,
    l2_bytes: Annotated[float | None, typer.Option(min=0, help="Bytes moved to and from L2.")] = None,
    l1_bytes: Annotated[
        float | None, typer.Option(min=0, help="128 for each wavefront of L1, however few are wanted.")
    ] = None,
    shared_bytes: Annotated[float | None, typer.Option(min=0, help="Likewise of shared memory.")] = None,
    seconds: Annotated[float | None, typer.Option(help="The time that it took on that GPU.")] = None,
    precision: Annotated[str, typer.Option(help="fp64, fp32 or fp16.")] = "fp32",
    name: Annotated[str, typer.Option(help="What to call it.")] = "kernel",
    model: Annotated[
        str | None,
        typer.Option(
            metavar="GPU",
            help="The GPU (`warpglass devices`). Without it the one that was counted for, or h100.",
        ),
    ] = None,
    device: OldDeviceOption = None,
    peak: Annotated[float | None, typer.Option(help="Another peak of that precision, in GFLOP/s.")] = None,
    bandwidth: Annotated[float | None, typer.Option(help="Another DRAM bandwidth, in GB/s.")] = None,
    plot: PlotOption = None,
    html: HtmlOption = None,
    csv: CsvOption = False,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    json_output: JsonInsteadOption = False,
) -> None:
    """Say whether kernels are bound by memory or by computing, and how fast they can be."""
    from ..lab import roofline as lab_roofline
    from ..report.console import stdout_console
    from ..report.html import roofline_page
    from ..report.pictures import check_ending
    from ..report.roofline import print_roofline, roofline_report, roofline_tables

    form = table_format(json=json_output, csv=csv, markdown=markdown, latex=latex)
    if plot is not None:
        check_ending(plot)
    if html is not None:
        check_page(html)
    _check_positive(seconds=seconds, peak=peak, bandwidth=bandwidth)
    moved = {"dram": bytes_, "l2": l2_bytes, "l1": l1_bytes, "shared": shared_bytes}
    given = _given_work(name, precision, flops, moved, seconds)
    gpu = model if device is None else calculated_for(model or "", device)
    found = lab_roofline.roofline(*given, *(records or ()), model=gpu)
    report = roofline_report(found.works, _changed(found.peaks, precision, peak, bandwidth))
    if html is not None:
        write_made(html, lambda: roofline_page(report))
    if json_output:
        typer.echo(report.to_json())
    elif form is not None:
        print_tables(roofline_tables(report), form)
    else:
        print_roofline(report, stdout_console())
    if plot is not None:
        from ..report.roofline_chart import draw_roofline

        draw(lambda: draw_roofline(report, plot), plot)


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
