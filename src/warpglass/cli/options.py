"""What the commands have in common: options that several take, and the exit statuses."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import devices
from ..errors import ArgumentError

FAILED, BAD_USAGE = 1, 2


def gpu_key(name: str) -> str:
    """The key of a GPU's name; raises ArgumentError for one that nobody knows."""
    try:
        return devices.get(name).key
    except devices.UnknownDevice as problem:
        raise ArgumentError(str(problem)) from None


DeviceOption = Annotated[str, typer.Option(help="auto (the first GPU, else the engine), cpu or gpu.")]
TimeoutOption = Annotated[float, typer.Option(help="Seconds after which a launch is stopped.")]
