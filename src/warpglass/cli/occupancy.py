"""The command `occupancy`: how many blocks of a kernel, which need not run, a multiprocessor holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ArgumentError
from ..records.argument_text import parse_dimensions, parse_size
from .compiler_flags import CompilerOption, split_target
from .export import (
    CsvOption,
    HtmlOption,
    LatexOption,
    MarkdownOption,
    check_page,
    draw,
    print_tables,
    table_format,
    write_made,
)
from .kernel_launch import typed_arguments
from .options import (
    MODEL,
    JsonInsteadOption,
    OldDeviceOption,
    PlotOption,
    calculated_for,
    existing_target,
)
from .status import FAILED

if TYPE_CHECKING:
    from ..lab import Kernel
    from ..report.occupancy import OccupancyReport


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
    html: HtmlOption = None,
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
    if html is not None:
        check_page(html)
    if threads is None:
        raise ArgumentError("give the block: --threads 256 or --block 16x16")
    from ..lab import occupancy as lab_occupancy
    from ..report.progress import waiting

    gpu = calculated_for(model, device)
    extents = parse_dimensions(threads)
    with waiting(f"Compiling {kernel}"):
        one, args = _open(kernel, lab_occupancy.target_for(gpu), arg or (), flags)
        report = lab_occupancy.occupancy(
            *(one, extents, args, parse_size(shared)),
            registers=registers,
            shared_per_thread=shared_per_thread,
            barriers=barriers,
            carveout=carveout,
            grid=parse_dimensions(grid) if grid else None,
            model=gpu,
        )
    if html is not None:
        from ..report.html import occupancy_page

        write_made(html, lambda: occupancy_page(report))
    _show_occupancy(report, curve, plot, form)


def _open(
    text: str | None, target: str, args: Sequence[str], flags: Sequence[str] | None
) -> tuple[Kernel | None, Sequence[object]]:
    """The kernel that FILE:KERNEL names and the arguments that it is compiled for, if there is one."""
    if text is None:
        return None, ()
    from .. import lab

    path, name = existing_target(text)
    kernel = lab.load(path, name, **{**split_target(flags), "target": target})
    return kernel, typed_arguments(kernel, args)


def _show_occupancy(report: OccupancyReport, curve: bool, plot: Path | None, form: str | None) -> None:
    from ..report.console import stdout_console
    from ..report.occupancy import occupancy_tables, print_curve, print_occupancy

    if form == "json":
        typer.echo(report.to_json(curve))
    elif form is not None:
        print_tables(occupancy_tables(report, curve), form)
    else:
        console = stdout_console()
        print_occupancy(report, console)
        if curve:
            print_curve(report, console)
    if plot is not None:
        from ..report.occupancy_chart import draw_curve

        draw(lambda: draw_curve(report, plot), plot)
    if not report.fit.blocks or report.refused:
        raise typer.Exit(FAILED)
