"""Commands that take a kernel's file or a whole program: `warpglass profile script.py arguments`.

Belongs here: telling the program's arguments from our own, and running one in Python as `python script.py`
would; native.py starts the others. What is done with its launches is the command's business.

Our options stand before the program, its own after it. One of ours behind it would be lost without a word, or
taken from the program: that is refused, and `--` before the program's arguments says that they are its own.
"""

from __future__ import annotations

import importlib.util
import runpy
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from ..errors import ArgumentError, WarpglassError
from ..programs import targets
from .compiler_flags import OPTIONS, CompilerCommand
from .status import FAILED, INTERRUPTED

MODULE_OPTION = "-m"
_END_OF_OPTIONS = "--"
_NATIVE = "warpglass.native"


class ScriptCommand(CompilerCommand):
    """A command whose words after a program (`script.py`, `prog.cu`, `./program`, `-m module`) are its own.

    `PROGRAM_OPTIONS` are those of the command's options that mean something for a program. With another
    one, a .cu file is one of kernels, even if it has a main function.
    """

    PROGRAM_OPTIONS: tuple[str, ...] = ()
    _of_kernel = _sources = False  # of the command line: options of kernels, files with a main function

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse our own words; the program's become plain arguments."""
        own_part = args[: args.index(_END_OF_OPTIONS)] if _END_OF_OPTIONS in args else args
        self._sources = any(map(targets.is_source, own_part))
        self._of_kernel = bool(self._alien().intersection(word.partition("=")[0] for word in own_part))
        args = self.compiler_words(args)
        position = self._program_position(args)
        if position is not None and not ctx.resilient_parsing:  # as when a shell asks for completions
            own, words = args[: position + 1], args[position + 1 :]
            source = targets.may_be_source(args[position])
            self._refuse_kernel_options(own, OPTIONS if source else ())
            if words[:1] == [_END_OF_OPTIONS] and not source:
                words = words[1:]
            else:
                self._refuse_late_options(ctx.command_path, own, words)
            if own[-2:-1] != [MODULE_OPTION] and not is_script(own[-1]):
                ctx.meta[_NATIVE] = True
            args = [*own, _END_OF_OPTIONS, *words]
        return super().parse_args(ctx, args)

    def ends_ours(self, word: str) -> bool:
        """Whether a word ends what is ours: those behind it belong to a program."""
        return super().ends_ours(word) or self._is_program(word)

    def _is_program(self, word: str) -> bool:
        if word.startswith("-"):
            return False
        if is_script(word) or self._of_kernel:
            return is_script(word)
        return self._sources if targets.may_be_source(word) else targets.is_executable(word)

    def _alien(self) -> set[str]:
        """The options that only kernels have."""
        return self._options() - {*self.PROGRAM_OPTIONS, *OPTIONS, MODULE_OPTION, "--help", "-h"}

    def _program_position(self, args: Sequence[str]) -> int | None:
        """Where the program is named: the first word that is neither an option nor an option's value."""
        valued = {
            name for option in self.params if not getattr(option, "is_flag", True) for name in option.opts
        }
        position = 0
        while position < len(args) and args[position].startswith("-"):
            if args[position] == MODULE_OPTION and MODULE_OPTION in valued:
                return position + 1
            position += 2 if args[position] in valued else 1
        return position if position < len(args) and self._is_program(args[position]) else None

    def _options(self) -> set[str]:
        """All spellings of the command's options."""
        return {name for one in self.params for name in (*one.opts, *one.secondary_opts) if name[:1] == "-"}

    def _refuse_kernel_options(self, own: Sequence[str], taken: Sequence[str]) -> None:
        alien = self._alien() | {*OPTIONS} - {*taken}
        for word in own:
            name = word.partition("=")[0]
            if name in alien:
                raise ArgumentError(f"{name} belongs to FILE:KERNEL; a program makes its own launches")

    def _refuse_late_options(self, command: str, own: Sequence[str], words: Sequence[str]) -> None:
        for word in words:
            name = word.partition("=")[0]
            if word == _END_OF_OPTIONS:
                return
            if name in self.PROGRAM_OPTIONS:
                target = _target(own)
                raise ArgumentError(
                    f"{name} stands after {own[-1]}, where the program's own arguments are. If it is "
                    f"warpglass's, write it before: {command} {word} ... {target}; if it is the program's, "
                    f"say so with --: {command} {target} -- {' '.join(words)}"
                )


def script_command(*options: str) -> type[ScriptCommand]:
    """A ScriptCommand with these PROGRAM_OPTIONS."""
    return type("_Command", (ScriptCommand,), {"PROGRAM_OPTIONS": options})


def _target(own: Sequence[str]) -> str:
    return f"{MODULE_OPTION} {own[-1]}" if own[-2:-1] == [MODULE_OPTION] else own[-1]


def is_script(target: str) -> bool:
    """Whether a target is a whole Python program, and not FILE:KERNEL."""
    return target.endswith(".py")


def is_native(context: typer.Context) -> bool:
    """Whether a command line that has been parsed names a program outside Python."""
    return bool(context.meta.get(_NATIVE))


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


def is_program(target: str | None, module: str | None) -> bool:
    """Whether a command line names a Python program; raises ArgumentError if it names nothing."""
    if module is None and target is None:
        raise ArgumentError(
            "give FILE:KERNEL with --grid and --block, PROG.cu, SCRIPT.py, ./PROGRAM or -m MODULE"
        )
    return module is not None or is_script(str(target))


def refuse_words(words: Sequence[str] | None) -> None:
    """Raise ArgumentError for words behind FILE:KERNEL."""
    if words:
        raise ArgumentError(f"{words[0]!r}: what a kernel gets is given with --arg")


@dataclass(frozen=True, slots=True)
class Program:
    """A program by its file or, with `module`, by its module's name; and its arguments."""

    name: str
    arguments: tuple[str, ...]
    module: bool

    @classmethod
    def of(cls, target: str | None, words: Sequence[str] | None, module: str | None) -> Program:
        """The program of a command line, where a module's first argument stands in the target's place."""
        if module is None:
            return cls(str(target), tuple(words or ()), module=False)
        return cls(module, (*(() if target is None else (target,)), *(words or ())), module=True)

    def __str__(self) -> str:
        return f"{MODULE_OPTION} {self.name}" if self.module else self.name

    def run(self) -> int:
        """Run it as Python would, in this process; returns its exit status."""
        return run_module(self.name, self.arguments) if self.module else run_script(self.name, self.arguments)


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
    except (Exception, KeyboardInterrupt) as problem:
        trace = problem.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename in _STARTERS:
            trace = trace.tb_next
        traceback.print_exception(problem.with_traceback(trace))
        return INTERRUPTED if isinstance(problem, KeyboardInterrupt) else FAILED
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
