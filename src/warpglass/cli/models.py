"""The commands about GPUs themselves and about kernels that need not run: devices, occupancy, roofline.

Belongs here: their options, and what they put together from devices/, models/ and source/. Words are
report/'s. Like there, imports stand inside the functions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError, LaunchError
from ..records.argument_text import make_arguments, parse_argument, parse_dimensions, parse_size, parse_target

if TYPE_CHECKING:
    from ..devices import Device, Limits
    from ..models.occupancy import Demand
    from ..models.roofline import Peaks, Work
    from ..report.device import Present
    from ..report.occupancy import OccupancyReport
    from ..source.cubin import Resources

FAILED = 1  # exit status when a block cannot run

_CAPABILITY = re.compile(r"(?:cc|sm_?)?\s*(\d+)\.(\d)", re.IGNORECASE)

GpuOption = Annotated[str, typer.Option(help='A GPU\'s name (`warpglass devices`) or "cc 5.2".')]
PlotOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Write a picture: .png, .svg or .pdf.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    for command in (devices, occupancy, roofline):
        app.command()(command)


# ---------------------------------------------------------------------------------------- devices
def devices(
    name: Annotated[str | None, typer.Argument(help="Show all that is known of this GPU.")] = None,
    json_output: JsonOption = False,
) -> None:
    """List where kernels can run on this machine and the GPUs known by name, or show one GPU's numbers."""
    from ..devices import get, names
    from ..report.console import stdout_console
    from ..report.device import device_json, print_device, print_present
    from ..report.listing import print_devices

    if name is not None:
        device = _device(name)
        if json_output:
            typer.echo(device_json(device))
        else:
            print_device(device, stdout_console())
        return
    places, present = _places()
    if json_output:
        known = [json.loads(device_json(get(one))) for one in names()]
        bandwidth = asdict(present) if present is not None else None
        record = {"places": dict(places), "present": bandwidth, "devices": known}
        typer.echo(json.dumps(record, indent=1))
        return
    console = stdout_console()
    print_devices(places, [get(one) for one in names()], console)
    if present is not None:
        print_present(present, console)


def _places() -> tuple[list[tuple[str, str]], Present | None]:
    """Return the back ends of this machine, and the bandwidth of its GPU if it has one."""
    from .. import lab
    from ..engine.gpu.backend import GpuBackend
    from ..report.device import Present

    engine, default = lab.backend("cpu"), lab.backend("auto")
    places = (engine,) if default.name == engine.name else (default, engine)
    present = None
    if isinstance(default, GpuBackend):
        bandwidth = default.bandwidth()
        present = Present(
            default.description,
            bandwidth.measured,
            bandwidth.theoretical,
            bandwidth.clock_khz,
            bandwidth.bus_bits,
        )
    return [(place.name, place.description) for place in places], present


def _device(name: str) -> Device:
    from ..devices import UnknownDevice, get

    try:
        return get(name)
    except UnknownDevice as problem:
        raise ArgumentError(str(problem)) from None


def _gpu(text: str) -> tuple[str, Limits, Device | None]:
    """Return what a GPU is called, its limits, and the GPU itself unless the text is only "cc x.y"."""
    from ..devices import limits_of
    from ..devices.device import capabilities

    found = _CAPABILITY.fullmatch(text.strip())
    if found is None:
        device = _device(text)
        return "{} (compute capability {}.{})".format(device.name, *device.capability), device.limits, device
    capability = int(found[1]), int(found[2])
    if capability not in capabilities():
        known = ", ".join(".".join(map(str, one)) for one in capabilities())
        raise ArgumentError(f"compute capability {found[1]}.{found[2]} is not known; there is {known}")
    return f"compute capability {found[1]}.{found[2]}", limits_of(capability), None


# ---------------------------------------------------------------------------------------- occupancy
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
    device: GpuOption = "h100",
    curve: Annotated[bool, typer.Option("--curve", help="Add a bar for every block size.")] = False,
    plot: PlotOption = None,
    json_output: JsonOption = False,
) -> None:
    """Say how many blocks one multiprocessor holds, what limits them, and what would change it."""
    from ..report.pictures import check_ending

    if plot is not None:
        check_ending(plot)
    if threads is None:
        raise ArgumentError("give the block: --threads 256 or --block 16x16")
    from ..models.occupancy import Demand
    from ..models.occupancy import occupancy as fit
    from ..report.occupancy import OccupancyReport

    gpu, limits, known = _gpu(device)
    block = parse_dimensions(threads)
    amount = parse_size(shared)
    machine = _machine_code(kernel, limits, registers, arg or ()) if kernel is not None else None
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
    _show_occupancy(report, curve, plot, json_output)


def _show_occupancy(report: OccupancyReport, curve: bool, plot: Path | None, json_output: bool) -> None:
    from ..report.console import stdout_console
    from ..report.occupancy import occupancy_json, print_curve, print_occupancy

    if json_output:
        typer.echo(occupancy_json(report, curve))
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


def _machine_code(text: str, limits: Limits, registers: int | None, args: Sequence[str]) -> _MachineCode:
    """Compile FILE:KERNEL for a compute capability and read what it takes.

    For GPUs older than the assembler knows, the registers have to be given; its oldest target says the rest.
    """
    from .. import lab
    from ..engine.gpu.driver import header_of
    from ..source.cubin import OLDEST, resources

    path, name = parse_target(text)
    if not path.is_file():
        raise ArgumentError(f"no file {path}")
    target = "sm_{}{}".format(*max(limits.capability, OLDEST))
    if limits.capability < OLDEST and registers is None:
        raise ArgumentError(
            "compute capability {}.{} is older than the oldest that CUDA 13 compiles for, {}.{}: give the "
            "registers per thread with --registers, as an older `nvcc -Xptxas -v` prints them".format(
                *limits.capability, *OLDEST
            )
        )
    kernel = lab.load(path, name, target=target)
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


# ---------------------------------------------------------------------------------------- roofline
def roofline(
    profiles: Annotated[
        list[Path] | None, typer.Argument(metavar="[PROFILE.json ...]", help="Saved profiles to place.")
    ] = None,
    flops: Annotated[float | None, typer.Option(min=0, help="Operations; an FMA is two.")] = None,
    bytes_: Annotated[
        float | None, typer.Option("--bytes", min=0, help="Bytes moved to and from DRAM.")
    ] = None,
    l2_bytes: Annotated[float | None, typer.Option(min=0, help="Bytes moved to and from L2.")] = None,
    l1_bytes: Annotated[float | None, typer.Option(min=0, help="Bytes moved to and from L1.")] = None,
    shared_bytes: Annotated[float | None, typer.Option(min=0, help="Bytes of shared memory moved.")] = None,
    seconds: Annotated[float | None, typer.Option(help="The time that it took on that GPU.")] = None,
    precision: Annotated[str, typer.Option(help="fp64, fp32 or fp16.")] = "fp32",
    name: Annotated[str, typer.Option(help="What to call it.")] = "kernel",
    device: Annotated[str, typer.Option(help="A GPU's name (`warpglass devices`).")] = "h100",
    peak: Annotated[float | None, typer.Option(help="Another peak of that precision, in GFLOP/s.")] = None,
    bandwidth: Annotated[float | None, typer.Option(help="Another DRAM bandwidth, in GB/s.")] = None,
    plot: PlotOption = None,
    json_output: JsonOption = False,
) -> None:
    """Say whether kernels are bound by memory or by computing, and how fast they can be."""
    from ..models.roofline import peaks_of
    from ..report.console import stdout_console
    from ..report.pictures import check_ending
    from ..report.roofline import print_roofline, roofline_json, roofline_report

    if plot is not None:
        check_ending(plot)
    _check_positive(seconds=seconds, peak=peak, bandwidth=bandwidth)
    moved = {"dram": bytes_, "l2": l2_bytes, "l1": l1_bytes, "shared": shared_bytes}
    works = _given_work(name, precision, flops, moved, seconds)
    works += [work for path in profiles or () for work in _saved_works(path)]
    peaks = _changed(peaks_of(_device(device)), precision, peak, bandwidth)
    report = roofline_report(works, peaks)
    if json_output:
        typer.echo(roofline_json(report))
    else:
        print_roofline(report, stdout_console())
    if plot is not None:
        from ..report.roofline_chart import draw_roofline

        draw_roofline(report, plot)


def _check_positive(**numbers: float | None) -> None:
    for name, number in numbers.items():
        if number is not None and not 0 < number < inf:
            raise ArgumentError(f"--{name} is {number}; it must be above 0")


def _given_work(
    name: str,
    precision: str,
    flops: float | None,
    moved: Mapping[str, float | None],
    seconds: float | None,
) -> list[Work]:
    """Return the work of the options, [] if none of its counts was given."""
    from ..models.roofline import PRECISIONS, Work

    if precision not in PRECISIONS:
        raise ArgumentError(f"--precision {precision!r}; there is {', '.join(PRECISIONS)}")
    counted = {level: count for level, count in moved.items() if count is not None}
    if flops is None and not counted:
        if seconds is not None:
            raise ArgumentError("--seconds needs what was done in that time: --flops and --bytes")
        return []
    if not flops and not any(counted.values()):
        raise ArgumentError("neither operations nor bytes: a roofline needs one of them above 0")
    return [Work(name, {} if flops is None else {precision: flops}, counted, seconds)]


def _saved_works(path: Path) -> tuple[Work, ...]:
    from ..models.roofline import points_from_profile

    try:
        record: Any = json.loads(path.read_text("utf-8"))
        if not isinstance(record, dict):
            raise ValueError("it is no JSON object")
        return points_from_profile(record)
    except OSError as error:
        raise ArgumentError(f"{path}: {error.strerror}") from None
    except (ValueError, TypeError) as problem:
        raise ArgumentError(f"{path} is no saved profile: {problem}") from None


def _changed(peaks: Peaks, precision: str, peak: float | None, bandwidth: float | None) -> Peaks:
    """Return peaks with a peak or a bandwidth of the user's own."""
    changes = [text for text, given in (("peak", peak), ("bandwidth", bandwidth)) if given is not None]
    if not changes:
        return peaks
    return replace(
        peaks,
        name=f"{peaks.name} with another {' and '.join(changes)}",
        gflops={**peaks.gflops, **({precision: peak} if peak is not None else {})},
        gb_s={**peaks.gb_s, **({"dram": bandwidth} if bandwidth is not None else {})},
    )
