"""The command `roofline`: what bounds kernels on a GPU, from saved records or from counts that are given."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError, WarpglassError
from .export import CsvOption, LatexOption, MarkdownOption, print_tables, table_format
from .options import JsonInsteadOption, OldDeviceOption, PlotOption, calculated_for, find_gpu

if TYPE_CHECKING:
    from ..models.roofline import Peaks, Work
    from ..models.saved_work import SavedWork

USUAL = "h100"


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
            help=f"The GPU (`warpglass devices`). Without it the one that was counted for, or {USUAL}.",
        ),
    ] = None,
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
    given = _given_work(name, precision, flops, moved, seconds)
    saved = [work for path in records or () for work in _saved_works(path)]
    asked = None if model is None and device is None else find_gpu(calculated_for(model or USUAL, device))
    gpu = asked or find_gpu(_counted_for(saved))
    peaks = _changed(peaks_of(gpu), precision, peak, bandwidth)
    report = roofline_report([*given, *(work.on(gpu.key) for work in saved)], peaks)
    if json_output:
        typer.echo(roofline_json(report))
    elif form is not None:
        print_tables(roofline_tables(report), form)
    else:
        print_roofline(report, stdout_console())
    if plot is not None:
        from ..report.roofline_chart import draw_roofline

        draw_roofline(report, plot)


def _counted_for(saved: Sequence[SavedWork]) -> str:
    """The GPU that all records are of; raises ArgumentError if they are of several."""
    found = list(dict.fromkeys(work.gpu for work in saved if work.gpu))
    if len(found) > 1:
        names = " and ".join(found)
        raise ArgumentError(f"the records were counted for {names}; --model says on whose roofline they go")
    return found[0] if found else USUAL


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


def _saved_works(path: Path) -> Sequence[SavedWork]:
    """The works of a file: a bench, a profile, or numbers that somebody wrote under nvprof's names."""
    from ..models.saved_work import works_of_bench, works_of_numbers, works_of_profile
    from ..records.bench import Record
    from ..records.files import records_of
    from ..records.profile import Profile

    try:
        data: Any = json.loads(path.read_text("utf-8"))
        if not isinstance(data, dict):
            raise ValueError("it is no JSON object")
        if not _is_ours(data):
            return works_of_numbers(data)  # pyright: ignore[reportUnknownArgumentType]
        found = records_of(data, str(path))  # pyright: ignore[reportUnknownArgumentType]
    except OSError as error:
        raise ArgumentError(f"{path}: {error.strerror}") from None
    except WarpglassError as problem:
        raise ArgumentError(str(problem)) from None
    except (ValueError, TypeError) as problem:
        raise ArgumentError(f"{path} is no saved profile or bench: {problem}") from None
    works: list[SavedWork] = []
    for one in found:
        if isinstance(one, Record):
            works += works_of_bench(one)
        elif isinstance(one, Profile):
            works += works_of_profile(one)
    if not works:
        raise ArgumentError(f"{path} has no work to place: no kernel of it was counted or timed")
    return works


def _is_ours(data: dict[str, Any]) -> bool:
    """Whether it is a record of warpglass, not numbers that somebody wrote."""
    profiles = data.get("profiles")
    first: Any = profiles[0] if isinstance(profiles, list) and profiles else data
    return not data.keys().isdisjoint(("ladders", "rows")) or (isinstance(first, dict) and "schema" in first)


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
