"""What `bench --devices` does: one operation on several GPUs beside the same on one."""

from __future__ import annotations

from pathlib import Path

import typer

from ..errors import ArgumentError
from .export import print_tables
from .output import write_file
from .status import FAILED


def bench_devices(
    ladder: str | None,
    all_ladders: bool,
    devices: str,
    size: int | None,
    dtype: str | None,
    repeat: int,
    json_path: Path | None,
    form: str | None,
) -> None:
    """Time, verify and print; raises typer.Exit where a result is not right."""
    from ..ranks.bench import BENCHES, bench
    from ..report.console import stdout_console
    from ..report.scaling import print_scaling, scaling_table

    if all_ladders == (ladder is not None):
        raise ArgumentError(f"name one ladder ({', '.join(BENCHES)}), or say --all")
    names = tuple(BENCHES) if ladder is None else (ladder,)
    record = bench(names, [_device(one) for one in devices.split(",")], size, dtype, repeat)
    if form is not None:
        print_tables([scaling_table(record)], form)
    elif json_path != Path("-"):
        print_scaling(record, stdout_console())
    if json_path == Path("-"):
        typer.echo(record.to_json(), nl=False)
    elif json_path is not None:
        write_file(record.to_json(), json_path)
    if not record.verified:
        raise typer.Exit(FAILED)


def _device(text: str) -> int | str:
    text = text.strip()
    if text != "cpu" and not text.isdecimal():
        raise ArgumentError(f"--devices {text!r}: write numbers of GPUs, as in 0,1, or cpu,cpu")
    return text if text == "cpu" else int(text)
