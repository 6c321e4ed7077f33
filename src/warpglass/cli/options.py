"""What the commands have in common: options that several take, and what each begins with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from .. import devices
from ..devices import Device
from ..errors import ArgumentError
from ..records.argument_text import parse_dimensions, parse_target

# ---------------------------------------------------------------------------------------- a launch
ARGUMENT_FORMS = (
    "In the kernel's order: f8[2048] (zeros), f8[1048576]:rand, x.npy, u4=1048576, f4=1,2,3, null. Fills: "
    "zero, one, fill(0.5), arange(start,step), linspace(start,stop), rand(low,high,seed=7), "
    "randn(mean,deviation), perm, or numbers."
)
ProgramArguments = Annotated[list[str] | None, typer.Argument(metavar="ARGUMENTS", help="Of the program.")]
GridOption = Annotated[str | None, typer.Option(help="Blocks: 1024, 32x32 or 8,8,8.")]
BlockOption = Annotated[str | None, typer.Option(help="Threads per block, likewise.")]
ArgOption = Annotated[list[str] | None, typer.Option(help=ARGUMENT_FORMS)]
SHARED = typer.Option(help="Bytes of dynamic shared memory.")
SharedOption = Annotated[str, SHARED]
ClusterOption = Annotated[
    str | None, typer.Option(help="Blocks of a cluster, likewise, if the kernel does not say it.")
]
DeviceOption = Annotated[
    str, typer.Option(help="Where it runs: auto (the first GPU, else the engine), cpu, gpu or gpu:1.")
]
CheckedOnOption = Annotated[str, typer.Option(help="Where it runs: cpu, the engine, which checks.")]
MODEL = "The GPU (`warpglass devices`) whose limits and caches apply"
ModelOption = Annotated[str, typer.Option(help=f"{MODEL}.")]
OldDeviceOption = Annotated[str | None, typer.Option("--device", hidden=True)]


def above_zero(seconds: float | None) -> float | None:
    """A time as given; raises ArgumentError for what is none."""
    if seconds is not None and not seconds > 0:
        raise ArgumentError(f"--timeout {seconds:g}: give seconds above 0")
    return seconds


TIMEOUT = typer.Option(callback=above_zero, help="Seconds after which a launch is stopped.")
TimeoutOption = Annotated[float, TIMEOUT]

# ---------------------------------------------------------------------------------------- output
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JsonInsteadOption = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]
PlotOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Write a picture: .png, .svg or .pdf.")]

# ---------------------------------------------------------------------------------------- many jobs
ResultsOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE.sqlite", help="Where results are kept; beside SPEC.toml if not given."),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Processes; one where times are taken, else one a core."),
]
DaskOption = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Let a Dask cluster do it: tcp://10.0.0.1:8786.")
]


def calculated_for(model: str, device: str | None) -> str:
    """The GPU to calculate for; `device` is where it was named before --model meant the same everywhere."""
    if device is None:
        return model
    if device in ("auto", "cpu") or device.startswith("gpu"):
        raise ArgumentError(f"--device {device}: nothing is run; --model names the GPU to calculate for")
    typer.echo(f"warpglass: --device says where kernels run; write --model {device}", err=True)
    return device


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


def split_kernel(text: str) -> tuple[Path, str | None]:
    """The file and the kernel that FILE:KERNEL or FILE names; raises ArgumentError without such a file."""
    path = Path(text)
    if path.suffix.lower() in (".cu", ".cuh", ".ptx"):
        if not path.is_file():
            raise ArgumentError(f"no file {path}; write FILE:KERNEL, as in reduce.cu:sum<512>")
        return path, None
    return existing_target(text)


def cluster_shape(cluster: str | None) -> tuple[int, ...] | None:
    """The extents of a cluster as given; raises ArgumentError."""
    return None if cluster is None else parse_dimensions(cluster)


def launch_shape(
    grid: str | None, block: str | None, fixed: Callable[[], tuple[int, ...] | None] = lambda: None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Grid and block as given, both of which a kernel needs; raises ArgumentError.

    `fixed` is asked for a block that the kernel's compiler has fixed if none is given.
    """
    threads = fixed() if grid is not None and block is None else None
    if grid is not None and threads is not None:
        return parse_dimensions(grid), threads
    if grid is None or block is None:
        raise ArgumentError("give the launch: --grid BLOCKS and --block THREADS")
    return parse_dimensions(grid), parse_dimensions(block)
