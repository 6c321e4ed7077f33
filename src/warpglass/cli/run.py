"""The command `run`: one kernel once, or a whole program on the virtual GPU."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..errors import ArgumentError
from ..records.argument_text import ArraySpec, make_arguments, parse_argument, parse_size
from .options import (
    ArgOption,
    BlockOption,
    DeviceOption,
    GridOption,
    ProgramArguments,
    SharedOption,
    TimeoutOption,
    existing_target,
    find_gpu,
    launch_shape,
)
from .script import MODULE_OPTION, is_script, run_module, run_script


def run(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE:KERNEL | SCRIPT.py",
            help="As in reduce.cu:sum<512> or k.py:sum; or a program that finds a GPU, the engine.",
        ),
    ] = None,
    arguments: ProgramArguments = None,
    module: Annotated[
        str | None,
        typer.Option(MODULE_OPTION, metavar="MODULE", help="Run a module as a program, as python -m does."),
    ] = None,
    grid: GridOption = None,
    block: BlockOption = None,
    arg: ArgOption = None,
    shared: SharedOption = "0",
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
    shape = launch_shape(grid, block)
    from .. import lab

    path, name = existing_target(target)
    texts = arg or []
    specs = [parse_argument(text) for text in texts]
    given = make_arguments(specs)
    kernel = lab.load(path, name)
    outcome = lab.run(
        kernel, *shape, given, shared=parse_size(shared), device=device, timeout=timeout, model=model
    )
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
    from ..numba_device import hook

    hook.spread(find_gpu(model).key)
    words = arguments if target is None or module is None else [target, *arguments]
    status = run_module(module, words) if module is not None else run_script(str(target), words)
    if status:
        raise typer.Exit(status)


def _sum_type(array: Any) -> str:
    return {"f": "f8", "c": "c16", "u": "u8"}.get(array.dtype.kind, "i8")
