"""The command `launch`: the arithmetic of covering elements with blocks."""

from __future__ import annotations

from math import prod
from typing import Annotated

import typer

from ..records.argument_text import parse_dimensions, parse_size
from .export import CsvOption, LatexOption, MarkdownOption, print_tables, table_format
from .options import JsonOption, ModelOption, find_gpu


def launch(
    elements: Annotated[str, typer.Argument(help="Elements to cover: 100, 1M or 76x62.")],
    block: Annotated[str, typer.Option(help="Threads per block: 32 or 16x16.")] = "256",
    each: Annotated[int, typer.Option(min=1, help="Elements a thread, in the first dimension.")] = 1,
    registers: Annotated[int, typer.Option(min=0, help="Registers per thread, for the waves.")] = 32,
    shared: Annotated[str, typer.Option(help="Bytes of shared memory per block, for the waves.")] = "0",
    model: ModelOption = "h100",
    csv: CsvOption = False,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    json_output: JsonOption = False,
) -> None:
    """Say how many blocks so many elements need, which threads are idle, and how many waves that is."""
    from ..models.occupancy import Demand, occupancy
    from ..report.console import stdout_console
    from ..report.launch_arithmetic import (
        arithmetic_json,
        arithmetic_table,
        launch_arithmetic,
        print_arithmetic,
    )

    form = table_format(json=json_output, csv=csv, markdown=markdown, latex=latex)
    gpu = find_gpu(model)
    extents = parse_dimensions(block)
    counts = parse_dimensions(elements) if "x" in elements or "," in elements else (parse_size(elements),)
    demand = Demand(threads=prod(extents), registers=registers, static_shared=parse_size(shared))
    at_once = gpu.multiprocessors * occupancy(demand, gpu.limits).blocks
    found = launch_arithmetic(counts, extents, each, gpu.name, at_once)
    if json_output:
        typer.echo(arithmetic_json(found))
    elif form is not None:
        print_tables([arithmetic_table(found)], form)
    else:
        print_arithmetic(found, stdout_console())
