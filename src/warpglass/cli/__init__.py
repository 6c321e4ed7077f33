"""The command line: what `warpglass` and `python -m warpglass` do. One file has one command.

Belongs here: options, exit status, and the choice of a report. What runs kernels goes through lab/; what only
looks things up (devices, occupancy, roofline, metrics, list) asks their own folders.
Imports of numpy, rich and the stages stand inside the commands: `warpglass --help` must not wait for them.

Exit status: 0, 1 when something fails to verify or a launch fails, 2 for bad usage, 130 after Ctrl-C.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .. import __version__
from ..errors import ArgumentError, WarpglassError, raised_by_kernel
from .bench import bench
from .check import check
from .compare import compare
from .devices import devices
from .list import list_ladders
from .metrics import metrics
from .occupancy import occupancy
from .options import BAD_USAGE, FAILED
from .profile import profile
from .roofline import roofline
from .run import run
from .script import ScriptCommand
from .selftest import selftest
from .trace import trace

app = typer.Typer(
    name="warpglass",
    help="Run, check, profile and race CUDA kernels on any machine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"warpglass {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


# In the order of --help.
app.command(cls=ScriptCommand)(run)
app.command()(bench)
app.command(name="list")(list_ladders)
app.command(cls=ScriptCommand)(check)
app.command()(selftest)
app.command()(devices)
app.command()(occupancy)
app.command()(roofline)
app.command(cls=ScriptCommand)(profile)
app.command()(metrics)
app.command()(compare)
app.command(context_settings={"ignore_unknown_options": True})(trace)  # a negative number is no option


def main() -> None:
    """Run the command line and leave the process with its exit status (typer's own: 2 usage, 130 Ctrl-C)."""
    try:
        app()
    except WarpglassError as problem:
        typer.echo(f"warpglass: {problem}", err=True)
        sys.exit(BAD_USAGE if isinstance(problem, ArgumentError) else FAILED)
    except Exception as problem:
        if not raised_by_kernel(problem):
            raise
        typer.echo(f"warpglass: {type(problem).__name__}: {problem}", err=True)
        sys.exit(FAILED)
