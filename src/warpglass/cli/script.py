"""Commands that take a kernel's file or a whole Python program: `warpglass profile script.py arguments`.

Belongs here: telling the program's arguments from our own, and running it as `python script.py` would. What
is done with its launches is the command's business.
"""

from __future__ import annotations

import importlib.util
import runpy
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from ..errors import ArgumentError, WarpglassError

MODULE_OPTION = "-m"


class ScriptCommand(TyperCommand):
    """A command whose words after `script.py`, or `-m module`, belong to the program, whatever they are."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse our own words; the script's become plain arguments."""
        position = self._script_position(args)
        if position is not None:
            args = [*args[: position + 1], "--", *args[position + 1 :]]
        return super().parse_args(ctx, args)

    def _script_position(self, args: Sequence[str]) -> int | None:
        """Where the script is named: the first word that is neither an option nor an option's value."""
        valued = {
            name for option in self.params if not getattr(option, "is_flag", True) for name in option.opts
        }
        position = 0
        while position < len(args) and args[position].startswith("-"):
            if args[position] == MODULE_OPTION and MODULE_OPTION in valued:
                return position + 1
            position += 2 if args[position] in valued else 1
        return position if position < len(args) and is_script(args[position]) else None


def is_script(target: str) -> bool:
    """Whether a target is a whole program, and not FILE:KERNEL."""
    return target.endswith(".py")


def run_module(name: str, arguments: Sequence[str]) -> int:
    """Run a module as `python -m name arguments` would and return its exit status."""

    def program() -> None:
        if not _can_run(name):
            raise ArgumentError(f"no module {name}, or a package that cannot be run")
        runpy.run_module(name, run_name="__main__", alter_sys=True)

    return _run([name, *arguments], str(Path.cwd()), program)


def _can_run(name: str) -> bool:
    """Whether there is a module of this name, or a package with a program."""
    try:
        found = importlib.util.find_spec(name)
        if found is not None and found.submodule_search_locations is not None:
            found = importlib.util.find_spec(f"{name}.__main__")
    except ImportError:
        return False
    return found is not None


def refuse_launch_options(options: Mapping[str, object]) -> None:
    """Raise ArgumentError if one of these options of FILE:KERNEL was given with a program."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ArgumentError(f"{given[0]} belongs to FILE:KERNEL; a program makes its own launches")


def run_script(path: str, arguments: Sequence[str]) -> int:
    """Run a Python program as `python path arguments` would and return its exit status."""
    if not Path(path).is_file():
        raise ArgumentError(f"no file {path}")
    folder = str(Path(path).resolve().parent)
    return _run([path, *arguments], folder, lambda: runpy.run_path(path, run_name="__main__"))


def _run(words: list[str], folder: str, program: Callable[[], object]) -> int:
    """Run a program with its own command line and first folder of modules.

    Its exceptions are printed with its own frames only; errors of warpglass are raised to the caller.
    """
    kept = sys.argv, sys.path[:]
    sys.argv, sys.path[0:1] = words, [folder]
    try:
        program()
        _wait_for_threads()
    except SystemExit as leaving:
        return _status(leaving.code)
    except WarpglassError:
        raise
    except Exception as problem:
        trace = problem.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename in _STARTERS:
            trace = trace.tb_next
        traceback.print_exception(problem.with_traceback(trace))
        return 1
    finally:
        sys.argv, sys.path[:] = kept
    return 0


def _wait_for_threads() -> None:
    """Wait for the threads that a program has left behind, as Python does before it ends."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


# Files whose frames come before a program's.
_STARTERS = (__file__, runpy.__file__, "<frozen runpy>")


def _status(code: object) -> int:
    """The exit status that `sys.exit(code)` asks for; a text is printed and means 1."""
    if code is None or isinstance(code, int):
        return code or 0
    sys.stderr.write(f"{code}\n")
    return 1
