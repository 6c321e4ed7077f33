"""The command line: what `warpglass` and `python -m warpglass` do. One file has one command.

Belongs here: options, exit status, and the choice of a report. What runs kernels goes through lab/; what only
looks things up (devices, occupancy, roofline, metrics, list) asks their own folders.
Imports of numpy, rich and the stages stand inside the commands: `warpglass --help` must not wait for them.

Exit statuses are those of status.py.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, NoReturn

import typer

from .. import __version__
from ..errors import WarpglassError, raised_by_kernel
from .bench import bench
from .check import check
from .compare import compare
from .compiler_flags import CompilerCommand
from .devices import devices
from .examples import epilog
from .explain import explain
from .judge import judge
from .launch import launch
from .list import list_ladders
from .metrics import metrics
from .occupancy import occupancy
from .profile import profile
from .report import report
from .roofline import roofline
from .run import run
from .script import script_command
from .selftest import selftest
from .show import show
from .status import BAD_USAGE, DEFECT, NOT_LAUNCHED, status_of
from .sweep import sweep
from .trace import trace
from .tune import tune

TRACEBACK = "WARPGLASS_TRACEBACK"  # set to 1, an error inside warpglass shows its traceback

app = typer.Typer(
    name="warpglass",
    help="Run, check, profile and race CUDA kernels on any machine.",
    no_args_is_help=True,
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


# The options that mean something for whole programs.
_CHECKED = (
    "--schedules --seed --suppress --model --json --sarif --html --csv --markdown --latex "
    "--gcc --github --timeout".split()
)
_PROFILED = (
    "--model --metrics --lines --gpu-summary --print-gpu-summary --csv --json --log-file --save --caches "
    "--no-caches --blocks --timeout --listing --html --markdown --latex"
).split()

# In the order of --help.
app.command(cls=script_command("--model", "--timeout"))(run)
app.command(cls=CompilerCommand)(bench)
app.command(name="list")(list_ladders)
app.command(cls=script_command(*_CHECKED))(check)
app.command()(selftest)
app.command()(devices)
app.command(cls=CompilerCommand)(occupancy)
app.command()(roofline)
app.command(cls=script_command(*_PROFILED))(profile)
app.command(cls=CompilerCommand)(explain)
app.command()(metrics)
app.command(cls=CompilerCommand)(show)
app.command()(launch)
app.command()(compare)
app.command()(sweep)
app.command()(tune)
app.command()(judge)
app.command()(report)
_NEGATIVE = {"ignore_unknown_options": True}  # a negative number is no option
app.command(cls=CompilerCommand, context_settings=_NEGATIVE)(trace)

for _command in app.registered_commands:
    assert _command.callback is not None
    _command.epilog = epilog(_command.name or _command.callback.__name__)


def main() -> None:
    """Run the command line and leave the process with its exit status."""
    try:
        app()
    except WarpglassError as problem:
        _leave(str(problem), status_of(problem))
    except Exception as problem:
        said = f"{type(problem).__name__}: {problem}"
        if raised_by_kernel(problem):
            _leave(said, NOT_LAUNCHED)
        if isinstance(problem, OSError):  # such as a full disk behind standard output
            _leave(said, BAD_USAGE)
        if isinstance(problem, MemoryError):
            _leave(f"there is not enough memory: {problem}", NOT_LAUNCHED)
        if os.environ.get(TRACEBACK, "0") not in ("", "0"):
            raise
        _leave(f"a defect of warpglass: {said} ({TRACEBACK}=1 shows where, for a report)", DEFECT)


def _leave(text: str, status: int) -> NoReturn:
    typer.echo(f"warpglass: {text}", err=True)
    sys.exit(status)
