"""The command `check`: options, what is written where, exit status. Words are report/'s."""

from __future__ import annotations

import math
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
from .options import (
    ARGUMENT_FORMS,
    SHARED,
    TIMEOUT,
    BlockOption,
    CheckedOnOption,
    GridOption,
    JsonOption,
    ModelOption,
    ProgramArguments,
    find_gpu,
)
from .output import words_apart, write_file
from .script import MODULE_OPTION, Program, is_program, refuse_words
from .status import FAILED, INTERRUPTED, status_of

if TYPE_CHECKING:
    from ..lab.check import Launches
    from ..records.check import Check, ProgramCheck


def check(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE[:KERNEL] | SCRIPT.py",
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
    timeout: Annotated[float | None, TIMEOUT] = None,
) -> None:
    """Run a kernel, or a whole program, on the engine and find races, bad barriers, bounds, undefined reads.

    Exit status: 0 if nothing is found, 1 if something is, else that of the program.
    """
    from ..lab import check as lab_check

    model, view = (
        find_gpu(model).key,
        _View(
            json_output, sarif, suppress or (), html, table_format(csv=csv, markdown=markdown, latex=latex)
        ),
    )
    if html is not None:
        check_page(html)
    seeds = lab_check.seeds_of(schedules, seed)
    if device not in ("cpu", "auto"):
        raise ArgumentError(f"--device {device}: check runs kernels on the engine, --device cpu")
    if is_program(target, module):
        launches = lab_check.Launches(model, seeds, math.inf if timeout is None else timeout)
        _check_program(Program.of(target, arguments, module), view, launches)
        return
    refuse_words(arguments)
    with words_apart(json_output):
        launch = open_launch(str(target), grid, block, arg, shared or "0", settings, outputs, flags)
    limit = 60.0 if timeout is None else timeout
    _check_kernel(launch, view, {"model": model, "schedules": schedules, "seed": seed, "timeout": limit})


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


def _check_program(program: Program, view: _View, launches: Launches) -> None:
    """Check every launch of a program; a finding makes our exit status 1, else the program's is ours."""
    from .. import __version__, lab
    from ..numba_device import hook, source_lines
    from ..records.check import ProgramCheck
    from ..records.suppressions import find_entries, suppress
    from ..report.check import print_program
    from ..report.console import stdout_console

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
    if status == INTERRUPTED:
        error = "interrupted"
    checks, notes = suppress(launches.checks(), entries)
    found = ProgramCheck(
        program=str(program),
        arguments=program.arguments,
        status=status,
        error=error,
        checks=tuple(checks),
        notes=notes,
        version=__version__,
    )
    _write(found, view)
    if not _write_instead(found, checks, view):
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
    elif view.form is not None:
        from ..report.record_tables import findings_table

        print_tables([findings_table(checks)], view.form)
    return view.json or view.form is not None
