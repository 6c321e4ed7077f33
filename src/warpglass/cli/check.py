"""The command `check`: options, what is written where, exit status. Words are report/'s."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError, WarpglassError
from ..records.argument_text import make_marked, parse_size
from .options import (
    ARGUMENT_FORMS,
    FAILED,
    INTERRUPTED,
    SHARED,
    TIMEOUT,
    BlockOption,
    GridOption,
    JsonOption,
    ProgramArguments,
    existing_target,
    find_gpu,
    launch_shape,
)
from .script import MODULE_OPTION, is_script, refuse_launch_options, run_module, run_script

if TYPE_CHECKING:
    from ..lab.check import Launches
    from ..records.check import Check, ProgramCheck


def check(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE:KERNEL | SCRIPT.py",
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
    model: Annotated[str, typer.Option(help="The GPU whose limits apply.")] = "h100",
    json_output: JsonOption = False,
    sarif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write SARIF 2.1.0 here, for code hosts.")
    ] = None,
    timeout: Annotated[float | None, TIMEOUT] = None,
) -> None:
    """Run a kernel, or a whole program, on the engine and find races, bad barriers, bounds, undefined reads.

    Exit status: 0 if nothing is found, 1 if something is, else that of the program.
    """
    from ..lab import check as lab_check

    model, view = find_gpu(model).key, _View(json_output, sarif, suppress or ())
    seeds = lab_check.seeds_of(schedules, seed)
    if module is not None or (target is not None and is_script(target)):
        refuse_launch_options({"--grid": grid, "--block": block, "--arg": arg, "--shared": shared})
        launches = lab_check.Launches(model, seeds, math.inf if timeout is None else timeout)
        words = [one for one in (target, *(arguments or ())) if one is not None]
        _check_program(module, words, view, launches)
        return
    if target is None:
        raise ArgumentError("give FILE:KERNEL with --grid and --block, SCRIPT.py, or -m MODULE")
    if arguments:
        raise ArgumentError(f"{arguments[0]!r}: what a kernel gets is given with --arg")
    blocks, threads = launch_shape(grid, block)
    launch = {
        "grid": blocks,
        "block": threads,
        "args": make_marked(arg or []),
        "shared": parse_size(shared or "0"),
        "timeout": 60.0 if timeout is None else timeout,
    }
    _check_kernel(target, launch, view, {"model": model, "schedules": schedules, "seed": seed})


@dataclass(frozen=True, slots=True)
class _View:
    """What to write, and which findings not."""

    json: bool
    sarif: Path | None
    suppress: Sequence[Path]


def _check_kernel(target: str, launch: dict[str, Any], view: _View, options: dict[str, Any]) -> None:
    from .. import lab
    from ..lab import check as lab_check
    from ..records.suppressions import find_entries, suppress
    from ..report.check import print_check
    from ..report.console import stdout_console

    path, name = existing_target(target)
    entries = find_entries(view.suppress)
    (found,), notes = suppress([lab_check.check(lab.load(path, name), **launch, **options)], entries)
    found = replace(found, notes=(*found.notes, *notes))
    _write(found, view)
    if view.json:
        typer.echo(found.to_json(), nl=False)
    else:
        print_check(found, stdout_console())
    if found.findings:
        raise typer.Exit(FAILED)


def _check_program(module: str | None, words: Sequence[str], view: _View, launches: Launches) -> None:
    """Check every launch of a program; a finding makes our exit status 1, else the program's is ours.

    `words` are a module's arguments; without one the first is the script.
    """
    from .. import __version__, lab
    from ..numba_device import hook, source_lines
    from ..records.check import ProgramCheck
    from ..records.suppressions import find_entries, suppress
    from ..report.check import print_program
    from ..report.console import stdout_console

    entries = find_entries(view.suppress)
    error = ""
    try:
        words_apart = redirect_stdout(sys.stderr) if view.json else nullcontext()
        with words_apart, hook.lent(launches.model), source_lines.asked_for(), lab.watching(launches.make):
            status = run_script(words[0], words[1:]) if module is None else run_module(module, words)
    except WarpglassError as problem:
        if not launches.begun:
            raise
        error, status = str(problem), FAILED
    except KeyboardInterrupt:
        error, status = "interrupted", INTERRUPTED
    checks, notes = suppress(launches.checks(), entries)
    found = ProgramCheck(
        program=words[0] if module is None else f"-m {module}",
        arguments=tuple(words[1:] if module is None else words),
        status=status,
        error=error,
        checks=tuple(checks),
        notes=notes,
        version=__version__,
    )
    _write(found, view)
    if view.json:
        typer.echo(found.to_json(), nl=False)
    else:
        print_program(found, stdout_console())
    if found.findings or status:
        raise typer.Exit(FAILED if found.findings else status)


def _write(found: Check | ProgramCheck, view: _View) -> None:
    if view.sarif is None:
        return
    try:
        view.sarif.parent.mkdir(parents=True, exist_ok=True)
        whole = view.sarif.with_name(f"{view.sarif.name}.{os.getpid()}")  # nobody sees a part of it
        whole.write_text(found.to_sarif(), encoding="utf-8")
        whole.replace(view.sarif)
    except OSError as problem:
        raise ArgumentError(f"{view.sarif} cannot be written: {problem.strerror or problem}") from None
