"""The command line: what `warpglass` and `python -m warpglass` do.

Belongs here: options, exit status, and the choice of a report. Everything it does goes through lab.py.
Imports of numpy, rich and the stages stand inside the commands: `warpglass --help` must not wait for them.

Exit status: 0, 1 when something fails to verify or a launch fails, 2 for bad usage, 130 after Ctrl-C.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import __version__, cli_check, cli_models, cli_profile
from .argument_text import (
    ArraySpec,
    make_arguments,
    parse_argument,
    parse_dimensions,
    parse_size,
    parse_target,
)
from .errors import ArgumentError, WarpglassError, raised_by_kernel

if TYPE_CHECKING:
    from .measure import Bench

FAILED, BAD_USAGE = 1, 2

app = typer.Typer(
    name="warpglass",
    help="Run, check, profile and race CUDA kernels on any machine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


DeviceOption = Annotated[str, typer.Option(help="auto (the first GPU, else the engine), cpu or gpu.")]
TimeoutOption = Annotated[float, typer.Option(help="Seconds after which a launch is stopped.")]


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
def bench(
    ladder: Annotated[str, typer.Argument(help="The ladder to run; `warpglass list` names them.")],
    size: Annotated[str | None, typer.Option(help="Elements: 16777216, 2^24, 16M or 1e6.")] = None,
    dtype: Annotated[
        str | None, typer.Option(help="float32, float64, int32, int64, uint32 or uint64.")
    ] = None,
    block: Annotated[int | None, typer.Option(help="Threads per block: 64, 128, 256, 512 or 1024.")] = None,
    language: Annotated[str, typer.Option(help="Kernels in cuda, python or both.")] = "both",
    device: DeviceOption = "auto",
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
        bool, typer.Option("--counters", help="Count each rung on the engine: load efficiency and so on.")
    ] = False,
    timeout: TimeoutOption = 60.0,
) -> None:
    """Run every rung of a ladder, verify the results, print times and speedups."""
    from .lab_bench import bench as run_ladder
    from .report.progress import progress_bar

    with progress_bar() as progress:
        result = run_ladder(
            ladder,
            size=None if size is None else parse_size(size),
            dtype=dtype,
            block=block,
            language=language,
            device=device,
            repeat=repeat,
            rungs=tuple(rung or ()),
            final=final,
            as_written=as_written,
            data=data,
            seed=seed,
            timeout=timeout,
            counters=counters,
            progress=progress,
        )
    _report_bench(result, json_path, explain)
    if not result.verified:
        raise typer.Exit(FAILED)


def _report_bench(result: Bench, json_path: Path | None, explain: bool) -> None:
    if json_path == Path("-"):
        typer.echo(result.to_json(), nl=False)
        return
    from .report.bench import print_bench
    from .report.console import stdout_console

    console = stdout_console()
    print_bench(result.record, console)
    if explain:
        from .report.explain import print_explanations

        print_explanations(result.rungs, result.record, console)
    if json_path is not None:
        result.record.save(json_path)


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


@app.command(name="list")
def list_ladders() -> None:
    """List the ladders and their rungs."""
    from .ladders import find_ladder, ladder_names
    from .ladders.trial import Options
    from .report.console import stdout_console
    from .report.listing import print_ladder

    for name in ladder_names():
        ladder = find_ladder(name)
        print_ladder(ladder.name, ladder.title, ladder.rungs(Options(as_written=True)), stdout_console())


cli_check.register(app)
cli_models.register(app)
cli_profile.register(app)


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
