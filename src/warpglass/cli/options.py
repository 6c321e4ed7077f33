"""What the commands have in common: options that several take, and what each begins with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import devices
from ..devices import Device
from ..errors import ArgumentError
from ..records.argument_text import parse_dimensions, parse_target

# ---------------------------------------------------------------------------------------- a launch
ARGUMENT_FORMS = "f8[1048576]:rand, f8[2048], u4=1048576; in order. Fills: zero, one, rand, perm, arange."
ProgramArguments = Annotated[list[str] | None, typer.Argument(metavar="ARGUMENTS", help="Of the program.")]
GridOption = Annotated[str | None, typer.Option(help="Blocks: 1024, 32x32 or 8,8,8.")]
BlockOption = Annotated[str | None, typer.Option(help="Threads per block, likewise.")]
ArgOption = Annotated[list[str] | None, typer.Option(help=ARGUMENT_FORMS)]
SHARED = typer.Option(help="Bytes of dynamic shared memory.")
SharedOption = Annotated[str, SHARED]
DeviceOption = Annotated[str, typer.Option(help="auto (the first GPU, else the engine), cpu or gpu.")]
TIMEOUT = typer.Option(help="Seconds after which a launch is stopped.")
TimeoutOption = Annotated[float, TIMEOUT]

# ---------------------------------------------------------------------------------------- output
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JsonInsteadOption = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]
PlotOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Write a picture: .png, .svg or .pdf.")]


def find_gpu(name: str) -> Device:
    """The GPU of a name; raises ArgumentError for one that nobody knows."""
    try:
        return devices.get(name)
    except devices.UnknownDevice as problem:
        raise ArgumentError(str(problem)) from None


def existing_target(text: str) -> tuple[Path, str]:
    """The file and the kernel that FILE:KERNEL names; raises ArgumentError if there is no such file."""
    path, name = parse_target(text)
    if not path.is_file():
        raise ArgumentError(f"no file {path}")
    return path, name


def launch_shape(grid: str | None, block: str | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Grid and block as given, both of which a kernel needs; raises ArgumentError."""
    if grid is None or block is None:
        raise ArgumentError("give the launch: --grid BLOCKS and --block THREADS")
    return parse_dimensions(grid), parse_dimensions(block)
