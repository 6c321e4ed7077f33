"""The command `run`: one kernel once, or a whole program on the virtual GPU."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .compiler_flags import CompilerOption
from .kernel_launch import OutOption, SetOption, open_launch
from .native import Native
from .options import (
    MODEL,
    ArgOption,
    BlockOption,
    ClusterOption,
    DeviceOption,
    GridOption,
    ProgramArguments,
    SharedOption,
    above_zero,
    cluster_shape,
    find_gpu,
)
from .output import words_apart
from .rung import AnyProgram, RungProgram, names_program, program_of
from .script import MODULE_OPTION, is_native, refuse_words
from .time_limit import run_limited


def run(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE[:KERNEL] | PROGRAM",
            help="As in reduce.cu:sum<512> or k.py:sum; or a program that finds a GPU, the engine: prog.cu "
            "with a main function, script.py, ./a.out.",
        ),
    ] = None,
    arguments: ProgramArguments = None,
    module: Annotated[
        str | None,
        typer.Option(MODULE_OPTION, metavar="MODULE", help="Run a module as a program, as python -m does."),
    ] = None,
    grid: GridOption = None,
    block: BlockOption = None,
    cluster: ClusterOption = None,
    arg: ArgOption = None,
    settings: SetOption = None,
    outputs: OutOption = None,
    flags: CompilerOption = None,
    shared: SharedOption = "0",
    device: DeviceOption = "auto",
    timeout: Annotated[
        float | None,
        typer.Option(
            callback=above_zero,
            help="Seconds after which a launch (60 if not given) or a whole program is ended.",
        ),
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    model: Annotated[str, typer.Option(help=f"{MODEL}; a program finds it.")] = "h100",
) -> None:
    """Run one kernel once, or a whole program without a GPU.

    Of a kernel, its time and the sum of every array afterwards are printed; a file alone shows what kernels
    it has. A program that uses numba.cuda,
    numba_cuda_mlir or cuda.core finds one GPU, whose work the engine does; its exit status is ours.
    """
    if is_native(context):
        Native.of(str(target), flags, arguments).run(find_gpu(model).key, timeout)
    if names_program(target, module):
        gpu = find_gpu(model).key
        _run_program(program_of(target, arguments, module, gpu), gpu, timeout)
        return
    refuse_words(arguments)
    from .. import lab
    from ..report.progress import waiting

    limit = 60.0 if timeout is None else timeout
    with words_apart(json_output), waiting(f"Running {target}"):
        one = open_launch(str(target), grid, block, arg, shared, settings, outputs, flags)
        outcome = lab.run(
            one.kernel,
            *(one.grid, one.block, one.args, one.shared),
            device=device,
            timeout=limit,
            model=find_gpu(model).key,
            cluster=cluster_shape(cluster),
        )
        one.save()
    from ..report.console import stdout_console
    from ..report.run import RunReport, print_run, run_json

    sums = [
        (name, text, value.sum(dtype=_sum_type(value)).item())
        for name, text, value in one.arrays()
        if value.dtype.kind in "biufc"
    ]
    report = RunReport(
        one.name, one.grid, one.block, outcome.device, outcome.label, outcome.seconds, tuple(sums)
    )
    if json_output:
        typer.echo(run_json(report))
    else:
        print_run(report, stdout_console())


def _run_program(program: AnyProgram, model: str, timeout: float | None) -> None:
    """Run a program with the virtual device; leave with its exit status."""
    from ..numba_device import hook

    if isinstance(program, RungProgram):
        _bench_rung(program)
        return
    if timeout is None:
        hook.spread(model)
        status = program.run()
    else:
        target = (MODULE_OPTION, program.name) if program.module else (program.name,)
        words = ("run", "--model", model, *target, "--", *program.arguments)
        status = run_limited(words, timeout, str(program))
    if status:
        raise typer.Exit(status)


def _bench_rung(program: RungProgram) -> None:
    """Time one rung at its ladder's small size."""
    from ..lab.bench import bench
    from ..report.bench import print_bench
    from ..report.console import stdout_console
    from ..report.progress import waiting

    one = program.target
    chosen = {"rungs": (one.rung,), "language": one.language, "as_written": True}
    with waiting(f"Running {program}"):
        found = bench(one.ladder, small=True, peers=False, model=program.model, **chosen)
    print_bench(found.record, stdout_console())


def _sum_type(array: Any) -> str:
    return {"f": "f8", "c": "c16", "u": "u8"}.get(array.dtype.kind, "i8")
