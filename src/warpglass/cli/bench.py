"""The command `bench`: its options and exit status. Words are report/'s."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ArgumentError
from ..records.argument_text import parse_size, parse_target
from .bench_devices import bench_devices
from .compiler_flags import CompilerOption, ladder_options
from .export import (
    CsvOption,
    HtmlOption,
    LatexOption,
    MarkdownOption,
    check_page,
    draw,
    print_tables,
    table_format,
    write_page,
)
from .options import MODEL, DeviceOption, PlotOption, TimeoutOption, find_gpu
from .output import write_file
from .status import FAILED

if TYPE_CHECKING:
    from ..ladders.measure import Bench

STDOUT = Path("-")
MODELS = ("h100", "p100")  # a GPU of today, and the one that the course notes used


def bench(
    ladder: Annotated[
        str | None, typer.Argument(help="The ladder to run; `warpglass list` names them.")
    ] = None,
    all_ladders: Annotated[bool, typer.Option("--all", help="Run every ladder.")] = False,
    size: Annotated[
        str | None, typer.Option(help="Elements, or rows of a matrix: 16777216, 2^24, 16M or 1e6.")
    ] = None,
    small: Annotated[bool, typer.Option("--small", help="Sizes that take milliseconds.")] = False,
    dtype: Annotated[str | None, typer.Option(help="Element type: float32, float64, int32, ...")] = None,
    block: Annotated[int | None, typer.Option(help="Threads per block.")] = None,
    language: Annotated[str, typer.Option(help="Kernels in cuda, python or both.")] = "both",
    device: DeviceOption = "auto",
    devices: Annotated[
        str | None,
        typer.Option(
            metavar="0,1,...",
            help="Share the operation out over these GPUs (cpu,cpu: over processes with the engine), "
            "and compare with one.",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GPU",
            help=f"{MODEL}, and on which times are modelled; several times for more GPUs. "
            "Without it: h100, and p100, the notes' own.",
        ),
    ] = None,
    flags: CompilerOption = None,
    repeat: Annotated[int, typer.Option(min=1, help="Timed repeats; the median counts.")] = 5,
    rung: Annotated[
        list[str] | None, typer.Option(help="Only this rung; may be given several times.")
    ] = None,
    final: Annotated[
        str, typer.Option(help="Partial sums are added on the host or by a further launch.")
    ] = "host",
    data: Annotated[str | None, typer.Option(help="Kind of input; the first that the ladder has.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the input.")] = 0,
    json_path: Annotated[
        Path | None,
        typer.Option(
            "--json", metavar="PATH", help="Also write the record here; - writes only it, to stdout."
        ),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Add what each rung shows.")] = False,
    as_written: Annotated[
        bool, typer.Option("--as-written", help="Add the kernels with the defects of the course notes.")
    ] = False,
    counters: Annotated[
        bool | None,
        typer.Option(
            help="Count each rung on the engine, and say what each step changes. On a GPU only if asked, or "
            "with --model, --notes, --whole.",
        ),
    ] = None,
    add: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE:KERNEL", help="Race your own kernel; its parameters are the ladder's."),
    ] = None,
    notes: Annotated[
        bool, typer.Option("--notes", help="Add the course notes' figures, and times on their GPUs.")
    ] = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="Add modelled times of whole programs, copies included.")
    ] = False,
    transfers: Annotated[
        bool, typer.Option("--transfers", help="Times include copying to the GPU and back.")
    ] = False,
    peers: Annotated[bool, typer.Option(help="Add what NumPy, CuPy, PyTorch ... take.")] = True,
    plot: PlotOption = None,
    html: HtmlOption = None,
    csv: CsvOption = False,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    timeout: TimeoutOption = 60.0,
) -> None:
    """Run every rung of a ladder, verify the results, print times, speedups and what each step changes."""
    from ..lab.bench import bench as run_ladder
    from ..report.console import stderr_console
    from ..report.forecast import print_forecast
    from ..report.progress import progress_bar

    form = table_format(csv=csv, markdown=markdown, latex=latex)
    if devices is not None:
        elements = None if size is None else parse_size(size)
        bench_devices(ladder, all_ladders, devices, elements, dtype, repeat, json_path, form)
        return
    _check_names(plot, html, several=all_ladders)
    added = tuple(_user_kernel(text) for text in add or ())
    shown = json_path != STDOUT and form is None
    results: list[Bench] = []
    begun: list[Bench] = []
    try:
        for name in _chosen(ladder, all_ladders):
            with progress_bar() as progress:
                result = run_ladder(
                    name,
                    size=None if size is None else parse_size(size),
                    small=small,
                    dtype=dtype,
                    block=block,
                    language=language,
                    device=device,
                    model=_models(name, model, notes),
                    options=ladder_options(flags),
                    repeat=repeat,
                    rungs=tuple(rung or ()),
                    final=final,
                    as_written=as_written,
                    data=data,
                    seed=seed,
                    timeout=timeout,
                    counters=True if counters is None and (model or notes or whole) else counters,
                    peers=peers,
                    transfers=transfers,
                    added=added,
                    progress=progress,
                    announce=lambda forecast: print_forecast(forecast, stderr_console()),
                    interrupted=begun.append,
                )
            results.append(result)
            if shown:
                _print_bench(result, explain, notes, whole)
    except KeyboardInterrupt:
        for one in begun if shown else ():
            _print_bench(one, explain, notes, whole)
        if results or begun:
            stderr_console().print("Interrupted; what was done by then is shown and written.")
            _write([*results, *begun], json_path, plot, html, form, several=all_ladders)
        raise
    _write(results, json_path, plot, html, form, several=all_ladders)
    if not all(result.verified for result in results):
        raise typer.Exit(FAILED)


def _models(ladder: str, given: Sequence[str] | None, notes: bool) -> tuple[str, ...]:
    """The GPUs to model: those given, else the usual ones and, with the notes, those of the notes."""
    from ..records.course_notes import noted_gpus

    names = given or (*MODELS, *(noted_gpus(ladder) if notes else ()))
    return tuple(dict.fromkeys(find_gpu(name).key for name in names))


def _chosen(ladder: str | None, all_ladders: bool) -> tuple[str, ...]:
    """The ladders to run: the one named, or all."""
    from ..ladders import ladder_names

    if all_ladders == (ladder is not None):
        known = ", ".join(ladder_names())
        raise ArgumentError(f"name one ladder ({known}), or say --all")
    return ladder_names() if ladder is None else (ladder,)


def _user_kernel(text: str) -> tuple[Path, str]:
    path, name = parse_target(text)
    if not path.is_file():
        raise ArgumentError(f"--add {text}: no file {path}")
    return path, name


def _print_bench(result: Bench, explain: bool, notes: bool, whole: bool) -> None:
    from ..report.bench import print_bench
    from ..report.console import stdout_console

    console = stdout_console()
    print_bench(result.record, console, result.sections)
    if whole:
        from ..report.bench_whole import print_whole

        print_whole(result.record, console)
    if notes:
        from ..report.notes import print_notes

        print_notes(result.record, console)
    if explain:
        from ..report.explain.rungs import print_explanations

        print_explanations(result.rungs, result.record, console)


def _check_names(plot: Path | None, html: Path | None, several: bool) -> None:
    """Raise ArgumentError, before anything runs, for files that could not be written in the end."""
    from ..report.pictures import check_ending

    if plot is not None:
        check_ending(plot)
        if several:
            raise ArgumentError("--plot draws one ladder; --html has the charts of all")
    if html is not None:
        check_page(html)


def _write(
    results: list[Bench],
    json_path: Path | None,
    plot: Path | None,
    html: Path | None,
    form: str | None,
    several: bool,
) -> None:
    """Write what was asked for beside the tables, or in their place."""
    records = [result.record for result in results]
    if form is not None:
        from ..report.record_tables import bench_tables

        print_tables([table for record in records for table in bench_tables(record)], form)
    if json_path is not None:
        _write_json(results, json_path, several)
    if plot is not None:
        from ..report.bench_chart import draw_bench

        draw(lambda: draw_bench(records[0], plot), plot)
    if html is not None:
        write_page(records, html, f"Bench: {', '.join(record.ladder for record in records)}")


def _write_json(results: list[Bench], path: Path, several: bool) -> None:
    """Write the record; with --all, all of them as {"ladders": [...]}."""
    texts = [result.to_json() for result in results]
    text = '{"ladders": [\n' + ",\n".join(map(str.rstrip, texts)) + "\n]}\n" if several else texts[0]
    if path == STDOUT:
        typer.echo(text, nl=False)
        return
    write_file(text, path)
