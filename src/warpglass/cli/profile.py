"""The commands about counters: profile, metrics, compare.

Belongs here: their options, and which views are printed. Words are report/'s.
Like there, imports stand inside the functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ArgumentError
from ..records.argument_text import make_arguments, parse_argument, parse_dimensions, parse_size, parse_target
from .options import gpu_key
from .script import ScriptCommand, is_script, refuse_launch_options, run_script

if TYPE_CHECKING:
    from rich.console import Console

    from ..engine.launch.backend import Launch
    from ..records.profile import Profile
    from ..report.metrics import Definition

CHANGED = 1  # exit status when a comparison finds more change than allowed


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(cls=ScriptCommand)(profile)
    for command in (metrics, compare):
        app.command()(command)


# ---------------------------------------------------------------------------------------- profile
def profile(
    target: Annotated[
        str,
        typer.Argument(
            metavar="FILE:KERNEL | SCRIPT.py",
            help="As in reduce.cu:sum<512> or k.py:sum; or a program, whose every launch is counted.",
        ),
    ],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="ARGUMENTS", help="Of the program.")
    ] = None,
    grid: Annotated[str | None, typer.Option(help="Blocks: 1024, 32x32 or 8,8,8.")] = None,
    block: Annotated[str | None, typer.Option(help="Threads per block, likewise.")] = None,
    arg: Annotated[
        list[str] | None,
        typer.Option(
            help="f8[1048576]:rand, f8[2048], u4=1048576; in order. Fills: zero, one, rand, perm, arange."
        ),
    ] = None,
    shared: Annotated[str, typer.Option(help="Bytes of dynamic shared memory.")] = "0",
    device: Annotated[
        str, typer.Option(help="cpu counts on the engine; gpu measures with Nsight Compute beside that.")
    ] = "cpu",
    model: Annotated[str, typer.Option(help="The GPU whose machine code and limits apply.")] = "h100",
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
    json_output: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
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
    timeout: Annotated[float, typer.Option(help="Seconds after which the launch is stopped.")] = 60.0,
) -> None:
    """Run a kernel, or a whole program, on the engine and count what Nsight Compute and nvprof count."""
    from .. import lab
    from ..lab import profile as lab_profile

    chosen, model = _chosen(metric), gpu_key(model)
    view = _View(chosen, lines, gpu_summary, csv, json_output, log_file, save)
    if is_script(target):
        given = {"--grid": grid, "--block": block, "--arg": arg, "--device": device != "cpu" or None}
        refuse_launch_options(given)
        _profile_script(
            target,
            arguments or (),
            model,
            view,
            lambda launch: lab_profile.count(launch, model, caches, blocks),
        )
        return
    if arguments:
        raise ArgumentError(f"{arguments[0]!r}: what a kernel gets is given with --arg")
    if grid is None or block is None:
        raise ArgumentError("give the launch: --grid BLOCKS and --block THREADS")
    path, name = parse_target(target)
    if not path.is_file():
        raise ArgumentError(f"no file {path}")
    found = lab_profile.profile(
        lab.load(path, name),
        parse_dimensions(grid),
        parse_dimensions(block),
        make_arguments([parse_argument(text) for text in arg or ()]),
        shared=parse_size(shared),
        device=device,
        model=model,
        timeout=timeout,
        caches=caches,
        blocks=blocks,
    )
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


def _profile_script(
    path: str, arguments: Sequence[str], model: str, view: _View, count: Callable[[Launch], Profile]
) -> None:
    """Count every launch of a program, which finds a GPU of this model; its exit status is ours."""
    from .. import lab
    from ..lab import profile as lab_profile
    from ..numba_device import hook, source_lines

    found: list[Profile] = []
    with hook.lent(model), source_lines.asked_for(), lab.watching(lab_profile.recorder(found, count)):
        status = run_script(path, arguments)
    _show(found, view)
    if status:
        raise typer.Exit(status)


def _show(found: Sequence[Profile], view: _View) -> None:
    from ..records.profile import several_json

    whole = found[0].to_json() if len(found) == 1 else several_json(found)
    if view.save is not None:
        _write(whole, view.save)
    text = whole if view.json else _text(found, view)
    if text is None:
        return
    if view.log_file is not None:
        _write(text, view.log_file)
    else:
        typer.echo(text, nl=not text.endswith("\n"))


def _text(found: Sequence[Profile], view: _View) -> str | None:
    """The view as text; None if it has been printed to the terminal, in colours."""
    from ..report.console import stdout_console, text_console, text_of
    from ..report.profile_csv import profile_csv, summary_csv

    if view.csv and view.gpu_summary:
        return summary_csv(found)
    if view.csv:
        return profile_csv(found, view.chosen or _counters())
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
        numbers = view.chosen or _metrics()
        print_profile(
            group[0], numbers, console, launches=len(group), all_zeros=bool(view.chosen), lines=view.lines
        )


def _write(text: str, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise ArgumentError(f"{path} cannot be written: {problem.strerror or problem}") from None


# ---------------------------------------------------------------------------------------- metrics
def _metrics() -> list[Definition]:
    """The metrics under nvprof's names."""
    from ..observe.metrics import METRICS
    from ..report.metrics import Definition

    return [
        Definition(one.name, one.text, one.unit, one.formula, one.counters, tuple(one.over))
        for one in METRICS.values()
    ]


def _counters() -> list[Definition]:
    """The counters under Nsight Compute's names."""
    from ..observe.counters import COUNTERS
    from ..report.metrics import Definition, counter_unit

    return [Definition(one.name, one.text, counter_unit(one.name)) for one in COUNTERS.values()]


def _chosen(given: Sequence[str] | None) -> list[Definition]:
    """What --metrics names."""
    from ..report.metrics import find

    names = [name for text in given or () for name in text.split(",") if name]
    every = [one.name for one in _metrics()]
    return find([one for name in names for one in (every if name == "all" else [name])], _known())


def _known() -> dict[str, Definition]:
    return {one.name: one for one in (*_metrics(), *_counters())}


def metrics(
    name: Annotated[str | None, typer.Argument(help="Show the definition of this one.")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List all counters and metrics by subject, or say how one is defined."""
    from ..report.console import stdout_console
    from ..report.metrics import definitions_json, find, print_definition, print_definitions

    known = _known()
    wanted = find([name], known) if name is not None else list(known.values())
    if json_output:
        typer.echo(definitions_json(wanted))
    elif name is not None:
        print_definition(wanted[0], known, stdout_console())
    else:
        print_definitions(wanted, stdout_console())


# ---------------------------------------------------------------------------------------- compare
def compare(
    before: Annotated[Path, typer.Argument(metavar="A.json", help="A saved profile.")],
    after: Annotated[Path, typer.Argument(metavar="B.json", help="The one to compare with it.")],
    threshold: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Exit with status 1 if a number changed by more, as in 5%."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metrics", metavar="NAMES", help="Only these; several times, or with commas."),
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what changed from one saved profile to another, and by how much; what got worse comes first."""
    from ..records.profile import load_all
    from ..report.compare import compare_profiles, comparison_json, parse_share, print_comparison
    from ..report.console import stdout_console

    limit = parse_share(threshold) if threshold is not None else None
    chosen = _chosen(metric)
    found = compare_profiles(load_all(before), load_all(after), chosen or _metrics(), limit)
    if json_output:
        typer.echo(comparison_json(found))
    else:
        print_comparison(found, stdout_console())
    if found.past_limit:
        raise typer.Exit(CHANGED)
