"""What the commands have in common: options that several take, and the exit statuses."""

from __future__ import annotations

from typing import Annotated

import typer

FAILED, BAD_USAGE = 1, 2

DeviceOption = Annotated[str, typer.Option(help="auto (the first GPU, else the engine), cpu or gpu.")]
TimeoutOption = Annotated[float, typer.Option(help="Seconds after which a launch is stopped.")]
