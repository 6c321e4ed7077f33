"""The command `devices`: where kernels can run here, and the GPUs that are known by name."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from .export import CsvOption, LatexOption, MarkdownOption, print_tables, table_format
from .options import JsonInsteadOption, find_gpu

if TYPE_CHECKING:
    from ..report.device import Present


def devices(
    name: Annotated[str | None, typer.Argument(help="Show all that is known of this GPU.")] = None,
    csv: CsvOption = False,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    json_output: JsonInsteadOption = False,
) -> None:
    """List where kernels can run on this machine and the GPUs known by name, or show one GPU's numbers."""
    from ..devices import get, names
    from ..report.console import stdout_console
    from ..report.device import device_json, device_table, print_device, print_present
    from ..report.listing import devices_tables, print_devices

    form = table_format(json=json_output, csv=csv, markdown=markdown, latex=latex)
    if name is not None:
        device = find_gpu(name)
        if json_output:
            typer.echo(device_json(device))
        elif form is not None:
            print_tables([device_table(device)], form)
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
    if form is not None:
        print_tables(devices_tables(places, [get(one) for one in names()]), form)
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
