"""The command `trace`: what a block's threads do at memory, step by step, and the passes of a sort."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ArgumentError
from ..records.argument_text import parse_size
from ..records.marks import unmark
from .compiler_flags import CompilerOption, ladder_options
from .export import CsvOption, LatexOption, MarkdownOption, draw, print_tables, table_format
from .kernel_launch import SetOption, open_launch
from .options import (
    TIMEOUT,
    ArgOption,
    DeviceOption,
    GridOption,
    JsonOption,
    ModelOption,
    PlotOption,
    SharedOption,
    find_gpu,
)
from .output import words_apart
from .rung import RungProgram, names_rung, program_of

if TYPE_CHECKING:
    from ..records.traces import Trace

_MOST = 60  # steps of a block that are printed


def trace(
    target: Annotated[
        str,
        typer.Argument(
            metavar="FILE:KERNEL | LADDER:RUNG | SORT",
            help="As in reduce.cu:sum<64>, reduction:interleaved, or a sort, as oddeven_sort.",
        ),
    ],
    numbers: Annotated[
        list[str] | None,
        typer.Argument(help="What a sort is to sort, as in 3 1 2 or 3,1,2; the notes' 16 numbers if none."),
    ] = None,
    grid: GridOption = None,
    block: Annotated[
        str | None, typer.Option(help="Threads per block; of a sort, each has two numbers.")
    ] = None,
    arg: ArgOption = None,
    settings: SetOption = None,
    flags: CompilerOption = None,
    shared: SharedOption = "0",
    size: Annotated[str | None, typer.Option(help="Of a rung: elements, or rows of a matrix.")] = None,
    of_block: Annotated[int, typer.Option("--of", metavar="N", help="The block to look at, by number.")] = 0,
    array: Annotated[
        str | None,
        typer.Option(help="Steps at this array alone; with --plot: the one to draw."),
    ] = None,
    most: Annotated[int, typer.Option(min=0, metavar="N", help="Steps to print; 0: all.")] = _MOST,
    plot: PlotOption = None,
    csv: CsvOption = False,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    json_output: JsonOption = False,
    language: Annotated[str, typer.Option(help="Of a sort's kernel: cuda or python.")] = "cuda",
    device: DeviceOption = "auto",
    model: ModelOption = "h100",
    timeout: Annotated[float, TIMEOUT] = 60.0,
) -> None:
    """Show, step by step, what one block's threads load, store and wait for; of a sort, its passes."""
    from ..lab import trace as lab_trace
    from ..ladders import ladder_names
    from ..report.pictures import check_ending
    from ..report.progress import waiting

    form = table_format(json=json_output, csv=csv, markdown=markdown, latex=latex)
    if plot is not None:
        check_ending(plot)
    if target in ladder_names():
        threads = None if block is None else parse_size(block)
        _trace_sort(target, numbers, threads, language, device, flags, form)
        return
    if numbers:
        raise ArgumentError(
            f"{numbers[0]!r}: only a sort takes numbers; a kernel's arguments are given by --arg"
        )
    gpu = find_gpu(model).key
    with words_apart(form is not None), waiting(f"Tracing {target}"):
        if names_rung(target):
            if flags:
                raise ArgumentError(f"{flags[0]}: a rung is compiled as its ladder says")
            if grid is not None or arg:
                raise ArgumentError(f"{target} makes its own arguments: --size and --block choose how many")
            program = program_of(target, None, None, gpu)
            assert isinstance(program, RungProgram)
            count, threads = (None if text is None else parse_size(text) for text in (size, block))
            found = lab_trace.trace_rung(program.target, gpu, of_block, count, threads)
        else:
            if size is not None:
                raise ArgumentError("--size: only a rung has one; a kernel's arrays are given by --arg")
            one = open_launch(target, grid, block, arg, shared, settings, None, flags)
            launch = one.kernel, one.grid, one.block, unmark(one.args), one.shared
            found = (lab_trace.trace(*launch, of_block, gpu, timeout),)
    _show(found, array, most, plot, form)


def _show(found: Sequence[Trace], array: str | None, most: int, plot: Path | None, form: str | None) -> None:
    from ..report.console import stdout_console
    from ..report.trace_chart import draw_trace
    from ..report.trace_steps import busiest, print_steps, steps_table

    named = {step.array for one in found for step in one.steps if step.array}
    if array is not None and array not in named:
        raise ArgumentError(f"no access to {array!r}; there is {', '.join(sorted(named)) or 'none'}")
    if form == "json":
        typer.echo(json.dumps({"traces": [asdict(one) for one in found]}))
    elif form is not None:
        print_tables([steps_table(one, array or "") for one in found], form)
    else:
        console = stdout_console()
        for place, one in enumerate(found):
            if place:
                console.print()
            print_steps(one, console, array or "", most)
    if plot is not None:
        drawn = next(
            (one for one in found if array is None or array in {s.array for s in one.steps}), found[0]
        )
        draw(lambda: draw_trace(drawn, array or busiest(drawn), plot), plot)


def _trace_sort(
    ladder: str,
    numbers: list[str] | None,
    block: int | None,
    language: str,
    device: str,
    flags: list[str] | None,
    form: str | None,
) -> None:
    """Sort a few numbers in many blocks and print every pass of the kernels."""
    import numpy as np

    from .. import lab, source
    from ..ladders import find_ladder, ladder_names
    from ..ladders.trial import Options, Toolchain
    from ..report.console import stdout_console
    from ..report.trace import passes_table, print_trace

    run = find_ladder(ladder).trace
    if run is None:
        traced = ", ".join(name for name in ladder_names() if find_ladder(name).trace is not None)
        rung = next(one.name for one in find_ladder(ladder).rungs(Options()) if one.host is None)
        raise ArgumentError(f"{ladder}: only {traced} has passes; of others name the rung: {ladder}:{rung}")
    if language not in ("cuda", "python"):
        raise ArgumentError(f"language {language!r}: cuda or python")
    chosen = np.array(parse_numbers(numbers)) if numbers else None
    open_cuda = partial(source.load, options=ladder_options(flags))
    toolchain = Toolchain(open_cuda=open_cuda, open_python=source.from_numba)
    passes = run(chosen, block, language, lab.backend(device), toolchain)
    if form == "json":
        typer.echo(json.dumps({"passes": [asdict(one) for one in passes]}))
    elif form is not None:
        print_tables([passes_table(passes)], form)
    else:
        print_trace(passes, stdout_console())


def parse_numbers(texts: list[str]) -> list[float]:
    """Numbers from words, each of which may hold several between commas; ArgumentError names a bad one."""
    found: list[float] = []
    for text in ",".join(texts).split(","):
        try:
            found.append(float(text))
        except ValueError:
            raise ArgumentError(f"{text!r} is no number; numbers are written 3 1 2 or 3,1,2") from None
    return found
