"""The command `occupancy`: how many blocks of a kernel, which need not run, a multiprocessor holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError, LaunchError
from ..records.argument_text import make_arguments, parse_argument, parse_dimensions, parse_size
from .compiler_flags import CompilerOption, split_target
from .export import CsvOption, LatexOption, MarkdownOption, print_tables, table_format
from .options import (
    MODEL,
    JsonInsteadOption,
    OldDeviceOption,
    PlotOption,
    calculated_for,
    existing_target,
    find_gpu,
)
from .status import FAILED

if TYPE_CHECKING:
    from ..devices import Device, Limits
    from ..models.occupancy import Demand
    from ..report.occupancy import OccupancyReport
    from ..source.cubin import Resources

_CAPABILITY = re.compile(r"(?:cc|sm_?)?\s*(\d+)\.(\d)", re.IGNORECASE)


def occupancy(
    kernel: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE:KERNEL]", help="Take registers and shared memory from its machine code."
        ),
    ] = None,
    threads: Annotated[
        str | None, typer.Option("--threads", "--block", help="Threads per block: 256, 16x16 or 8,8,4.")
    ] = None,
    registers: Annotated[int | None, typer.Option(min=0, help="Registers per thread.")] = None,
    shared: Annotated[
        str, typer.Option(help="Bytes of shared memory per block; for a kernel, of dynamic shared memory.")
    ] = "0",
    shared_per_thread: Annotated[
        int, typer.Option(min=0, help="How much of it grows with the block, in bytes per thread.")
    ] = 0,
    barriers: Annotated[int | None, typer.Option(min=0, help="Named barriers of a block.")] = None,
    carveout: Annotated[
        int | None, typer.Option(min=0, max=100, help="Preferred share of shared memory, in percent.")
    ] = None,
    grid: Annotated[str | None, typer.Option(help="Blocks of the grid, to count waves.")] = None,
    arg: Annotated[
        list[str] | None,
        typer.Option(help="Types of a Python kernel's arguments, as for run: f8[100], i4=1."),
    ] = None,
    model: Annotated[str, typer.Option(help=f'{MODEL}; or "cc 5.2".')] = "h100",
    device: OldDeviceOption = None,
    flags: CompilerOption = None,
    curve: Annotated[bool, typer.Option("--curve", help="Add a bar for every block size.")] = False,
    plot: PlotOption = None,
    csv: CsvOption = False,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    json_output: JsonInsteadOption = False,
) -> None:
    """Say how many blocks one multiprocessor holds, what limits them, and what would change it."""
    from ..report.pictures import check_ending

    form = table_format(json=json_output, csv=csv, markdown=markdown, latex=latex)
    if plot is not None:
        check_ending(plot)
    if threads is None:
        raise ArgumentError("give the block: --threads 256 or --block 16x16")
    from ..models.occupancy import Demand
    from ..models.occupancy import occupancy as fit
    from ..report.occupancy import OccupancyReport

    gpu, limits, known = _gpu(calculated_for(model, device))
    block = parse_dimensions(threads)
    amount = parse_size(shared)
    machine = _machine_code(kernel, limits, registers, arg or (), flags) if kernel is not None else None
    found = machine.resources if machine else None
    demand = Demand(
        threads=prod(block),
        registers=registers if registers is not None else found.registers if found else 0,
        static_shared=found.static_shared if found else amount,
        dynamic_shared=amount if found else 0,
        barriers=barriers if barriers is not None else found.barriers if found else 0,
        carveout=carveout,
    )
    report = OccupancyReport(
        kernel=machine.name if machine else None,
        gpu=gpu,
        block=block,
        fit=fit(demand, limits),
        shared_per_thread=shared_per_thread,
        multiprocessors=known.multiprocessors if known else None,
        grid=prod(parse_dimensions(grid)) if grid else None,
        compiled=asdict(found) if found else {},
        refused=_refusal(gpu, limits, demand, block, machine),
    )
    _show_occupancy(report, curve, plot, form)


def _show_occupancy(report: OccupancyReport, curve: bool, plot: Path | None, form: str | None) -> None:
    from ..report.console import stdout_console
    from ..report.occupancy import occupancy_json, occupancy_tables, print_curve, print_occupancy

    if form == "json":
        typer.echo(occupancy_json(report, curve))
    elif form is not None:
        print_tables(occupancy_tables(report, curve), form)
    else:
        console = stdout_console()
        print_occupancy(report, console)
        if curve:
            print_curve(report, console)
    if plot is not None:
        from ..report.occupancy_chart import draw_curve

        draw_curve(report, plot)
    if not report.fit.blocks or report.refused:
        raise typer.Exit(FAILED)


@dataclass(frozen=True, slots=True)
class _MachineCode:
    name: str
    resources: Resources
    directives: Any  # of the entry, for engine.limits


def _machine_code(
    text: str, limits: Limits, registers: int | None, args: Sequence[str], flags: Sequence[str] | None
) -> _MachineCode:
    """Compile FILE:KERNEL for a compute capability and read what it takes.

    For GPUs older than the assembler knows, the registers have to be given; its oldest target says the rest.
    """
    from .. import lab
    from ..engine.gpu.driver import header_of
    from ..source.cubin import OLDEST, resources

    path, name = existing_target(text)
    target = "sm_{}{}".format(*max(limits.capability, OLDEST))
    if limits.capability < OLDEST and registers is None:
        raise ArgumentError(
            "compute capability {}.{} is older than the oldest that CUDA 13 compiles for, {}.{}: give the "
            "registers per thread with --registers, as an older `nvcc -Xptxas -v` prints them".format(
                *limits.capability, *OLDEST
            )
        )
    kernel = lab.load(path, name, **{**split_target(flags), "target": target})
    try:
        compiled = kernel.compile(make_arguments([parse_argument(one) for one in args]))
    except ArgumentError as problem:
        hint = "" if args else "; a Python kernel is compiled for types: give --arg for each, as in f8[1024]"
        raise ArgumentError(f"{problem}{hint}") from None
    header = header_of(compiled.ptx, compiled.entry)
    return _MachineCode(name, resources(compiled, target), header.directives if header else ())


@dataclass(frozen=True, slots=True)
class _Named:
    """A GPU as engine.limits wants it."""

    name: str
    limits: Limits


def _refusal(
    gpu: str, limits: Limits, demand: Demand, block: tuple[int, ...], machine: _MachineCode | None
) -> str | None:
    """Return why a launch of one such block is refused, None if it is not."""
    from ..engine.launch.limits import as_dim3, check_launch

    try:
        check_launch(
            _Named(gpu.partition(" (")[0], limits),
            (1, 1, 1),
            as_dim3(block, "block"),
            demand.static_shared,
            demand.dynamic_shared,
            demand.registers,
            machine.directives if machine else (),
        )
    except LaunchError as problem:
        return str(problem)
    return None


def _gpu(text: str) -> tuple[str, Limits, Device | None]:
    """Return what a GPU is called, its limits, and the GPU itself unless the text is only "cc x.y"."""
    from ..devices import limits_of
    from ..devices.device import capabilities

    found = _CAPABILITY.fullmatch(text.strip())
    if found is None:
        device = find_gpu(text)
        return "{} (compute capability {}.{})".format(device.name, *device.capability), device.limits, device
    capability = int(found[1]), int(found[2])
    if capability not in capabilities():
        known = ", ".join(".".join(map(str, one)) for one in capabilities())
        raise ArgumentError(f"compute capability {found[1]}.{found[2]} is not known; there is {known}")
    return f"compute capability {found[1]}.{found[2]}", limits_of(capability), None
