"""The command line: what `warpglass` and `python -m warpglass` do.

Belongs here: options, exit status, and the choice of a report. Everything it does goes through lab/.
Imports of numpy, rich and the stages stand inside the commands: `warpglass --help` must not wait for them.

Exit status: 0, 1 when something fails to verify or a launch fails, 2 for bad usage, 130 after Ctrl-C.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from .. import __version__
from ..errors import ArgumentError, WarpglassError, raised_by_kernel
from ..records.argument_text import (
    ArraySpec,
    make_arguments,
    parse_argument,
    parse_dimensions,
    parse_size,
    parse_target,
)
from . import bench, check, models, profile, trace
from .options import BAD_USAGE, FAILED, DeviceOption, TimeoutOption
from .script import MODULE_OPTION, ScriptCommand, is_script, run_module, run_script

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


@app.command(cls=ScriptCommand)
def run(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE:KERNEL | SCRIPT.py",
            help="As in reduce.cu:sum<512> or k.py:sum; or a program that finds a GPU, the engine.",
        ),
    ] = None,
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="ARGUMENTS", help="Of the program.")
    ] = None,
    module: Annotated[
        str | None,
        typer.Option(MODULE_OPTION, metavar="MODULE", help="Run a module as a program, as python -m does."),
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
    device: DeviceOption = "auto",
    timeout: TimeoutOption = 60.0,
    json_output: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    model: Annotated[
        str, typer.Option(help="The GPU that a program finds, and whose limits apply.")
    ] = "h100",
) -> None:
    """Run one kernel once, or a whole program without a GPU.

    Of a kernel, its time and the sum of every array afterwards are printed. A program that uses numba.cuda,
    numba_cuda_mlir or cuda.core finds one GPU, whose work the engine does; its exit status is ours.
    """
    if module is not None or (target is not None and is_script(target)):
        _run_program(target, arguments or [], module, model)
        return
    if target is None:
        raise ArgumentError("give FILE:KERNEL with --grid and --block, SCRIPT.py, or -m MODULE")
    if grid is None or block is None:
        raise ArgumentError("give the launch: --grid BLOCKS and --block THREADS")
    from .. import lab

    path, name = parse_target(target)
    if not path.is_file():
        raise ArgumentError(f"no file {path}")
    texts = arg or []
    specs = [parse_argument(text) for text in texts]
    given = make_arguments(specs)
    shape = parse_dimensions(grid), parse_dimensions(block)
    kernel = lab.load(path, name)
    options: dict[str, Any] = {"shared": parse_size(shared), "device": device, "timeout": timeout}
    outcome = lab.run(kernel, *shape, given, model=model, **options)
    from ..report.console import stdout_console
    from ..report.run import RunReport, print_run, run_json

    sums = [
        (text, value.sum(dtype=_sum_type(value)).item())
        for text, spec, value in zip(texts, specs, given, strict=True)
        if isinstance(spec, ArraySpec)
    ]
    report = RunReport(name, *shape, outcome.device, outcome.label, outcome.seconds, tuple(sums))
    if json_output:
        typer.echo(run_json(report))
    else:
        print_run(report, stdout_console())


def _run_program(target: str | None, arguments: list[str], module: str | None, model: str) -> None:
    """Run a program with the virtual device; leave with its exit status."""
    from .. import devices
    from ..numba_device import hook

    try:
        key = devices.get(model).key
    except devices.UnknownDevice as problem:
        raise ArgumentError(str(problem)) from None
    hook.spread(key)
    words = arguments if target is None or module is None else [target, *arguments]
    status = run_module(module, words) if module is not None else run_script(str(target), words)
    if status:
        raise typer.Exit(status)


def _sum_type(array: Any) -> str:
    return {"f": "f8", "c": "c16", "u": "u8"}.get(array.dtype.kind, "i8")


bench.register(app)
check.register(app)
models.register(app)
profile.register(app)
trace.register(app)


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
