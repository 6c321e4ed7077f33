"""The command `check`: options, what is written where, exit status. Words are report/'s."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError, WarpglassError
from .compiler_flags import CompilerOption
from .export import (
    CsvOption,
    HtmlOption,
    LatexOption,
    MarkdownOption,
    check_page,
    print_tables,
    table_format,
    write_page,
)
from .kernel_launch import KernelLaunch, OutOption, SetOption, open_launch
from .native import Native
from .options import (
    ARGUMENT_FORMS,
    SHARED,
    TIMEOUT,
    BlockOption,
    CheckedOnOption,
    ClusterOption,
    GridOption,
    JsonOption,
    ModelOption,
    ProgramArguments,
    cluster_shape,
    find_gpu,
)
from .output import words_apart, write_file
from .rung import AnyProgram, RungProgram, names_program, program_of
from .script import MODULE_OPTION, is_native, refuse_words
from .status import FAILED, INTERRUPTED, status_of

if TYPE_CHECKING:
    from ..lab.check import Launches
    from ..records.check import Check, ProgramCheck


def check(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE[:KERNEL] | PROGRAM",
            help="As in reduce.cu:sum<512> or k.py:sum; or a program, whose every launch is checked.",
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
    arg: Annotated[
        list[str] | None,
        typer.Option(
            help=f"{ARGUMENT_FORMS} "
            "out:f8[2048] must be written whole, all:f8[1024]:rand read whole, ro:f8[64] not be written."
        ),
    ] = None,
    settings: SetOption = None,
    outputs: OutOption = None,
    flags: CompilerOption = None,
    shared: Annotated[str | None, SHARED] = None,
    schedules: Annotated[
        int, typer.Option(metavar="N", help="Run N times more, blocks and warps in random orders.")
    ] = 0,
    seed: Annotated[
        int | None, typer.Option(help="The first of these orders; alone, it is the only one.")
    ] = None,
    suppress: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE.toml",
            help="Do not report the findings that its entries fit; the nearest warpglass.toml or "
            "pyproject.toml counts, too.",
        ),
    ] = None,
    device: CheckedOnOption = "cpu",
    model: ModelOption = "h100",
    json_output: JsonOption = False,
    sarif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write SARIF 2.1.0 here, for code hosts.")
    ] = None,
    html: HtmlOption = None,
    csv: CsvOption = False,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    gcc: Annotated[
        bool, typer.Option("--gcc", help="Print a line for each finding, as compilers do, instead.")
    ] = False,
    github: Annotated[
        bool,
        typer.Option("--github", help="Print GitHub's annotations instead, and write the step's summary."),
    ] = False,
    timeout: Annotated[float | None, TIMEOUT] = None,
) -> None:
    """Run a kernel, or a whole program, on the engine and find races, bad barriers, bounds, undefined reads.

    Exit status: 0 if nothing is found, 1 if something is, else that of the program.
    """
    from ..lab import check as lab_check
    from ..report.progress import waiting

    form = table_format(csv=csv, markdown=markdown, latex=latex, gcc=gcc, github=github)
    model, view = find_gpu(model).key, _View(json_output, sarif, suppress or (), html, form)
    if html is not None:
        check_page(html)
    seeds = lab_check.seeds_of(schedules, seed)
    if device not in ("cpu", "auto"):
        raise ArgumentError(f"--device {device}: check runs kernels on the engine, --device cpu")
    if is_native(context):
        _check_native(Native.of(str(target), flags, arguments), model, view, seeds, timeout)
        return
    if names_program(target, module):
        launches = lab_check.Launches(model, seeds, math.inf if timeout is None else timeout)
        _check_program(program_of(target, arguments, module, model), view, launches)
        return
    refuse_words(arguments)
    with words_apart(json_output), waiting(f"Compiling {target}"):
        launch = open_launch(str(target), grid, block, arg, shared or "0", settings, outputs, flags)
    limit = 60.0 if timeout is None else timeout
    options = {"model": model, "schedules": schedules, "seed": seed, "timeout": limit}
    _check_kernel(launch, view, {**options, "cluster": cluster_shape(cluster)})


def _placed(checks: Sequence[Check], program: AnyProgram) -> Sequence[Check]:
    """The checks of a program; a rung's launches are at no place of the user's."""
    return [replace(one, site="") for one in checks] if isinstance(program, RungProgram) else checks


@dataclass(frozen=True, slots=True)
class _View:
    """What to write, and which findings not."""

    json: bool
    sarif: Path | None
    suppress: Sequence[Path]
    html: Path | None
    form: str | None


def _check_kernel(launch: KernelLaunch, view: _View, options: dict[str, Any]) -> None:
    from ..lab import check as lab_check
    from ..records.suppressions import find_entries, suppress
    from ..report.check import print_check
    from ..report.console import stdout_console
    from ..report.progress import waiting

    entries = find_entries(view.suppress)
    with words_apart(view.json), waiting(f"Checking {launch.name}"):
        one = launch.kernel, launch.grid, launch.block, launch.args, launch.shared
        (found,), notes = suppress([lab_check.check(*one, **options)], entries)
    launch.save()
    found = replace(found, notes=(*found.notes, *notes))
    _write(found, view)
    if not _write_instead(found, [found], view):
        print_check(found, stdout_console())
    if found.findings:
        raise typer.Exit(FAILED)


def _check_program(program: AnyProgram, view: _View, launches: Launches) -> None:
    """Check every launch of a program; a finding makes our exit status 1, else the program's is ours."""
    from .. import lab
    from ..numba_device import hook, source_lines
    from ..records.suppressions import find_entries

    entries = find_entries(view.suppress)
    error = ""
    try:
        with (
            words_apart(view.json),
            hook.lent(launches.model),
            source_lines.asked_for(),
            lab.watching(launches.make),
        ):
            status = program.run()
    except WarpglassError as problem:
        if not launches.begun:
            raise
        error, status = str(problem), status_of(problem)
    checks = _placed(launches.checks(), program)
    _report((str(program), program.arguments), checks, status, error, view, entries)


def _check_native(
    program: Native, model: str, view: _View, seeds: Sequence[int], timeout: float | None
) -> None:
    """Check every launch of a program outside Python, as _check_program does."""
    from ..lab.check import by_place
    from ..records.suppressions import find_entries

    entries = find_entries(view.suppress)
    with words_apart(view.json):
        status, found = program.watched(model, "check", seeds=tuple(seeds), timeout=timeout)
    _report((str(program), program.words[1:]), by_place(found), status, "", view, entries)


def _report(
    program: tuple[str, tuple[str, ...]],
    checks: Sequence[Check],
    status: int,
    error: str,
    view: _View,
    entries: Sequence[Any],
) -> None:
    """Write and print what was found in a program, and leave with its status or with that of findings."""
    from .. import __version__
    from ..records.check import ProgramCheck
    from ..records.suppressions import suppress
    from ..report.check import print_program
    from ..report.console import stdout_console

    if status == INTERRUPTED:
        error = "interrupted"
    kept, notes = suppress(checks, entries)
    found = ProgramCheck(
        program=program[0],
        arguments=program[1],
        status=status,
        error=error,
        checks=tuple(kept),
        notes=notes,
        version=__version__,
    )
    _write(found, view)
    if not _write_instead(found, kept, view):
        print_program(found, stdout_console())
    if found.findings or status:
        raise typer.Exit(FAILED if found.findings else status)


def _write(found: Check | ProgramCheck, view: _View) -> None:
    from ..records.check import Check

    if view.sarif is not None:
        write_file(found.to_sarif(), view.sarif)
    if view.html is not None:
        name = found.kernel if isinstance(found, Check) else found.program
        write_page([found], view.html, f"Check: {name}")


def _write_instead(found: Check | ProgramCheck, checks: Sequence[Check], view: _View) -> bool:
    """Write what was asked for in place of the findings in words, if anything was."""
    if view.json:
        typer.echo(found.to_json(), nl=False)
    elif view.form == "gcc":
        from ..report.check_lines import compiler_lines

        typer.echo("".join(f"{line}\n" for line in compiler_lines(checks)), nl=False)
    elif view.form == "github":
        _write_github(checks)
    elif view.form is not None:
        from ..report.record_tables import findings_table

        print_tables([findings_table(checks)], view.form)
    return view.json or view.form is not None


def _write_github(checks: Sequence[Check]) -> None:
    """Print annotations, and add the findings to the summary of the step that we run in."""
    from ..report.check_lines import github_commands, github_summary

    typer.echo("".join(f"{line}\n" for line in github_commands(checks)), nl=False)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        try:
            with Path(summary).open("a", encoding="utf-8") as stream:
                stream.write(github_summary(checks))
        except OSError as problem:
            raise ArgumentError(f"{summary} cannot be written: {problem.strerror or problem}") from None
