"""The command `show`: a kernel's source, PTX and machine code, line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .compiler_flags import CompilerOption, split_target
from .kernel_launch import show_kernels, typed_arguments
from .options import JsonOption, ModelOption, find_gpu, split_kernel
from .rung import RungProgram, names_rung, program_of

if TYPE_CHECKING:
    from pathlib import Path

    from ..source.compiled import Compiled


def show(
    target: Annotated[
        str,
        typer.Argument(
            metavar="FILE:KERNEL | FILE | LADDER:RUNG",
            help="As in reduce.cu:sum<512>, k.py:sum, reduction:interleaved or reduction:interleaved:python; "
            "a .cu or .ptx file alone: its kernels.",
        ),
    ],
    arg: Annotated[
        list[str] | None,
        typer.Option(help="Types of a Python kernel's arguments, as for run: f8[100], i4=1."),
    ] = None,
    flags: CompilerOption = None,
    model: ModelOption = "h100",
    json_output: JsonOption = False,
) -> None:
    """Show a kernel's source with the PTX and the machine code that are made of each line."""
    from ..lab.listing import listing_of
    from ..lab.profile import target_of
    from ..report.console import stdout_console
    from ..report.progress import waiting
    from ..report.show import listing_json, print_listing

    gpu = find_gpu(model)
    path, name = (None, None) if names_rung(target) else split_kernel(target)
    if path is not None and name is None:
        show_kernels(path)
        return
    with waiting(f"Compiling {target}"):
        compiled = _of_file(path, name, arg or [], flags) if path and name else _of_rung(target, gpu.key)
        found = listing_of(compiled, target_of(gpu))
    if json_output:
        typer.echo(listing_json(found))
    else:
        print_listing(found, stdout_console())


def _of_rung(target: str, model: str) -> Compiled:
    """The first kernel that a rung launches."""
    from ..lab.rungs import launches_of

    program = program_of(target, None, None, model)
    assert isinstance(program, RungProgram)
    return launches_of(program.target, model)[0].compiled


def _of_file(path: Path, name: str, arg: list[str], flags: list[str] | None) -> Compiled:
    from .. import lab

    kernel = lab.load(path, name, **split_target(flags))
    return kernel.compile(typed_arguments(kernel, arg))
