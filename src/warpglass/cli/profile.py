"""The command `profile`: options, and which views of profiles are printed. Words are report/'s."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .compiler_flags import CompilerOption
from .export import (
    HtmlOption,
    LatexOption,
    MarkdownOption,
    check_page,
    print_tables,
    table_format,
    write_page,
)
from .kernel_launch import OutOption, SetOption, open_launch
from .metrics import chosen_definitions, counter_definitions, metric_definitions
from .native import Native
from .options import (
    MODEL,
    TIMEOUT,
    ArgOption,
    BlockOption,
    ClusterOption,
    GridOption,
    JsonOption,
    ProgramArguments,
    SharedOption,
    cluster_shape,
    find_gpu,
)
from .output import words_apart, write_file
from .rung import AnyProgram, RungProgram, names_program, program_of
from .script import MODULE_OPTION, is_native, refuse_words

if TYPE_CHECKING:
    from rich.console import Console

    from ..engine.launch.backend import Launch
    from ..records.profile import Profile
    from ..report.metrics import Definition


def profile(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE[:KERNEL] | PROGRAM",
            help="As in reduce.cu:sum<512> or k.py:sum; or a program, whose every launch is counted.",
        ),
    ] = None,
    arguments: ProgramArguments = None,
    module: Annotated[
        str | None,
        typer.Option(MODULE_OPTION, metavar="MODULE", help="A module as a program, as python -m runs it."),
    ] = None,
    grid: GridOption = None,
    block: BlockOption = None,
    cluster: ClusterOption = None,
    arg: ArgOption = None,
    settings: SetOption = None,
    outputs: OutOption = None,
    flags: CompilerOption = None,
    shared: SharedOption = "0",
    device: Annotated[
        str, typer.Option(help="cpu counts on the engine; gpu measures with Nsight Compute beside that.")
    ] = "cpu",
    model: Annotated[str, typer.Option(help=f"{MODEL}; a program finds it.")] = "h100",
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metrics",
            metavar="NAMES",
            help="Only these, in names of nvprof or Nsight Compute; several times, or with commas; "
            '"all" is all of nvprof\'s.',
        ),
    ] = None,
    lines: Annotated[bool, typer.Option("--lines", help="Show the source with counters per line.")] = False,
    gpu_summary: Annotated[
        bool,
        typer.Option(
            "--gpu-summary", "--print-gpu-summary", help="Print calls and times by kernel, as nvprof does."
        ),
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print rows of comma-separated values.")] = False,
    json_output: JsonOption = False,
    log_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the output to a file instead.")
    ] = None,
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the whole profile as JSON.")] = None,
    caches: Annotated[
        bool,
        typer.Option("--caches/--no-caches", help="Simulate the caches, for L2 and DRAM: most of the time."),
    ] = True,
    blocks: Annotated[
        int | None,
        typer.Option(metavar="N", help="Count only N blocks, evenly spread, and let them stand for all."),
    ] = None,
    listing: Annotated[
        bool,
        typer.Option("--listing", help="Keep source, PTX, machine code and warp views in what is saved."),
    ] = False,
    html: HtmlOption = None,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    timeout: Annotated[float | None, TIMEOUT] = None,
) -> None:
    """Run a kernel, or a whole program, on the engine and count what Nsight Compute and nvprof count."""
    from ..lab import profile as lab_profile
    from ..report.progress import waiting

    chosen, model = chosen_definitions(metric), find_gpu(model).key
    form = table_format(markdown=markdown, latex=latex)
    view = _View(chosen, lines, gpu_summary, csv, json_output, log_file, save, html, form)
    if html is not None:
        check_page(html)
    listing = listing or html is not None
    if is_native(context):
        wanted = {"timeout": timeout, "caches": caches, "blocks": blocks, "listing": listing}
        _profile_native(Native.of(str(target), flags, arguments), model, view, wanted)
        return
    if names_program(target, module):

        def count(launch: Launch) -> Profile:
            bounded = replace(launch, timeout=min(launch.timeout, math.inf if timeout is None else timeout))
            return lab_profile.count(bounded, model, caches, blocks, listing)

        _profile_program(program_of(target, arguments, module, model), model, view, count)
        return
    refuse_words(arguments)
    with words_apart(json_output), waiting(f"Counting {target}"):
        one = open_launch(str(target), grid, block, arg, shared, settings, outputs, flags)
        found = lab_profile.profile(
            *(one.kernel, one.grid, one.block, one.args, one.shared),
            device=device,
            model=model,
            timeout=60.0 if timeout is None else timeout,
            caches=caches,
            blocks=blocks,
            cluster=cluster_shape(cluster),
            listing=listing,
        )
        one.save()
    _show([found], view)


@dataclass(frozen=True, slots=True)
class _View:
    """What to show of profiles, and where."""

    chosen: Sequence[Definition]
    lines: bool
    gpu_summary: bool
    csv: bool
    json: bool
    log_file: Path | None
    save: Path | None
    html: Path | None
    form: str | None


def _profile_program(
    program: AnyProgram, model: str, view: _View, count: Callable[[Launch], Profile]
) -> None:
    """Count every launch of a program, which finds a GPU of this model; its exit status is ours."""
    from .. import lab
    from ..lab import profile as lab_profile
    from ..numba_device import hook, source_lines

    found: list[Profile] = []
    with (
        words_apart(view.json),
        hook.lent(model),
        source_lines.asked_for(),
        lab.watching(lab_profile.recorder(found, count)),
    ):
        status = program.run()
    if isinstance(program, RungProgram):  # whose launches are at no place of the user's
        found = [replace(one, site="") for one in found]
    _show(found, view)
    if status:
        raise typer.Exit(status)


def _profile_native(program: Native, model: str, view: _View, wanted: Mapping[str, Any]) -> None:
    """Count every launch of a program outside Python, as _profile_program does; a summary counts nothing."""
    if view.gpu_summary:
        _sum_up(program, model, view)
        return
    with words_apart(view.json):
        status, found = program.watched(model, "profile", **wanted)
    _show(found, view)
    if status:
        raise typer.Exit(status)


def _sum_up(program: Native, model: str, view: _View) -> None:
    """Print what a program had the GPU do and which functions it called, as nvprof does."""
    from ..records.activity import summed
    from ..report.activities import activities_csv, print_activities
    from ..report.console import stdout_console, text_console, text_of

    with words_apart(view.csv and view.log_file is None):
        status, found = program.watched(model, "summary")
    rows = summed(one for record in found for one in record)
    if view.csv:
        text = activities_csv(rows)
    else:
        console = stdout_console() if view.log_file is None else text_console(stdout_console().width)
        print_activities(rows, console)
        text = "" if view.log_file is None else text_of(console) + "\n"
    if view.log_file is not None:
        write_file(text, view.log_file)
    elif text:
        typer.echo(text, nl=False)
    if status:
        raise typer.Exit(status)


def _show(found: Sequence[Profile], view: _View) -> None:
    from ..records.profile import several_json

    whole = found[0].to_json() if len(found) == 1 else several_json(found)
    if view.save is not None:
        write_file(whole, view.save)
    if view.html is not None:
        write_page(found, view.html, f"Profile: {', '.join(dict.fromkeys(one.kernel for one in found))}")
    if view.form is not None and not view.json:
        from ..report.record_tables import lines_table, profile_table

        numbers = view.chosen or metric_definitions()
        tables = [profile_table(one, numbers) for one in found]
        tables += [lines_table(one) for one in found] if view.lines else []
        print_tables(tables, view.form)
        return
    text = whole if view.json else _text(found, view)
    if text is None:
        return
    if view.log_file is not None:
        write_file(text, view.log_file)
    else:
        typer.echo(text, nl=not text.endswith("\n"))


def _text(found: Sequence[Profile], view: _View) -> str | None:
    """The view as text; None if it has been printed to the terminal, in colours."""
    from ..report.console import stdout_console, text_console, text_of
    from ..report.profile_csv import profile_csv, summary_csv

    if view.csv and view.gpu_summary:
        return summary_csv(found)
    if view.csv:
        return profile_csv(found, view.chosen or counter_definitions())
    console = stdout_console() if view.log_file is None else text_console(stdout_console().width)
    _print(found, view, console)
    return None if view.log_file is None else text_of(console) + "\n"


def _print(found: Sequence[Profile], view: _View, console: Console) -> None:
    from ..report.profile import by_site, print_profile, print_sites, print_summary

    if not found:
        console.print("The program launched no kernel.")
        return
    if view.gpu_summary:
        print_summary(found, console)
        return
    groups = by_site(found)
    if len(found) > 1:
        print_sites(found, console)
    for group in groups:
        if len(found) > 1:
            console.print()
        numbers = view.chosen or metric_definitions()
        print_profile(
            group[0], numbers, console, launches=len(group), all_zeros=bool(view.chosen), lines=view.lines
        )
