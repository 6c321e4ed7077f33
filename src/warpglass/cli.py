"""The command line: what `warpglass` and `python -m warpglass` do.

Belongs here: options, exit status, and the choice of a report. Everything it does goes through lab.py.
Imports of numpy, rich and the stages stand inside the commands: `warpglass --help` must not wait for them.

Exit status: 0, 1 when something fails to verify or a launch fails, 2 for bad usage, 130 after Ctrl-C.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from . import __version__, cli_bench, cli_check, cli_models, cli_profile, cli_trace
from .argument_text import (
    ArraySpec,
    make_arguments,
    parse_argument,
    parse_dimensions,
    parse_size,
    parse_target,
)
from .cli_options import BAD_USAGE, FAILED, DeviceOption, TimeoutOption
from .errors import ArgumentError, WarpglassError, raised_by_kernel

app = typer.Typer(
    name="warpglass",
    help="Run, check, profile and race CUDA kernels on any machine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"warpglass {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
def run(
    target: Annotated[
        str, typer.Argument(metavar="FILE:KERNEL", help="As in reduce.cu:sum<512> or k.py:sum.")
    ],
    grid: Annotated[str, typer.Option(help="Blocks: 1024, 32x32 or 8,8,8.")],
    block: Annotated[str, typer.Option(help="Threads per block, likewise.")],
    arg: Annotated[
        list[str] | None,
        typer.Option(
            help="f8[1048576]:rand, f8[2048], u4=1048576; in order. Fills: zero, one, rand, perm, arange."
        ),
    ] = None,
    shared: Annotated[str, typer.Option(help="Bytes of dynamic shared memory.")] = "0",
    device: DeviceOption = "auto",
    timeout: TimeoutOption = 60.0,
    json_output: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Run one kernel once; print its time and the sum of every array afterwards."""
    from . import lab

    path, name = parse_target(target)
    if not path.is_file():
        raise ArgumentError(f"no file {path}")
    texts = arg or []
    specs = [parse_argument(text) for text in texts]
    arguments = make_arguments(specs)
    shape = parse_dimensions(grid), parse_dimensions(block)
    kernel = lab.load(path, name)
    outcome = lab.run(kernel, *shape, arguments, shared=parse_size(shared), device=device, timeout=timeout)
    from .report.console import stdout_console
    from .report.run import RunReport, print_run, run_json

    sums = [
        (text, value.sum(dtype=_sum_type(value)).item())
        for text, spec, value in zip(texts, specs, arguments, strict=True)
        if isinstance(spec, ArraySpec)
    ]
    report = RunReport(name, *shape, outcome.device, outcome.label, outcome.seconds, tuple(sums))
    if json_output:
        typer.echo(run_json(report))
    else:
        print_run(report, stdout_console())


def _sum_type(array: Any) -> str:
    return {"f": "f8", "c": "c16", "u": "u8"}.get(array.dtype.kind, "i8")


cli_bench.register(app)
cli_check.register(app)
cli_models.register(app)
cli_profile.register(app)
cli_trace.register(app)


def main() -> None:
    """Run the command line and leave the process with its exit status (typer's own: 2 usage, 130 Ctrl-C)."""
    try:
        app()
    except WarpglassError as problem:
        typer.echo(f"warpglass: {problem}", err=True)
        sys.exit(BAD_USAGE if isinstance(problem, ArgumentError) else FAILED)
    except Exception as problem:
        if not raised_by_kernel(problem):
            raise
        typer.echo(f"warpglass: {type(problem).__name__}: {problem}", err=True)
        sys.exit(FAILED)
