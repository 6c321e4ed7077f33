"""Notebooks: `%load_ext warpglass` adds the cell magics %%cuda, %%check and %%profile.

Belongs here: what the magics do with a cell. A cell of CUDA C++ is written to a file, so that findings, heat
and errors name its lines; the file lives as long as the notebook's process. How errors of ours are shown is
theirs (errors.py).
"""

from __future__ import annotations

import argparse
import atexit
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from .. import lab, source
from ..errors import ArgumentError, in_notebook
from ..records.argument_text import parse_dimensions
from ..records.profile import Profile
from .check import Launches, check
from .profile import count as count_launch
from .profile import profile, recorder

_MODEL = "h100"
_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|\([^()]*\)|\[[^][]*\]|\S)+""")
_cells = count(2)


def load_ipython_extension(shell: Any) -> None:
    """Add the magics to a shell of IPython, and let interrupts be shown without our frames."""
    shell.register_magic_function(lambda line, cell: cuda(shell, line, cell), "cell", "cuda")
    shell.register_magic_function(lambda line, cell: check_cell(shell, line, cell), "cell", "check")
    shell.register_magic_function(lambda line, cell: profile_cell(shell, line, cell), "cell", "profile")
    shell.set_custom_exc((KeyboardInterrupt,), _show_interrupt)


class _Parser(argparse.ArgumentParser):
    """A parser whose mistakes are errors of ours, since a notebook must not be left."""

    def error(self, message: str) -> Any:
        raise ArgumentError(f"{self.prog}: {message}\n{self.format_usage().strip()}")

    def exit(self, status: int = 0, message: str | None = None) -> Any:
        raise ArgumentError((message or "").strip() or self.format_help())


@cache
def _cuda_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        "%%cuda",
        description="Compile a cell of CUDA C++; its kernels become variables. With --grid, launch one.",
    )
    parser.add_argument(
        "kernel", nargs="?", help="the kernel to launch, as in sum<256>; not needed if it is the only one"
    )
    parser.add_argument("--grid", help="blocks: 8, 4x4 or 8,8,8")
    parser.add_argument("--block", help="threads per block, likewise")
    parser.add_argument("--args", nargs="*", default=[], metavar="EXPRESSION", help="of Python, such as x n")
    parser.add_argument("--shared", type=int, default=0, help="bytes of dynamic shared memory")
    does = parser.add_mutually_exclusive_group()
    does.add_argument("--check", action="store_true", help="look for defects")
    does.add_argument("--profile", action="store_true", help="count what it does")
    parser.add_argument("--save", metavar="NAME", help="keep the result under this name")
    parser.add_argument("--options", default="", help="for the compiler, as in --options=-DN=4")
    return parser


def cuda(shell: Any, line: str, cell: str) -> object:
    """%%cuda: compile a cell, define its kernels, and launch, check or profile one if a grid is given."""
    wanted = _cuda_parser().parse_args(_words(line))
    path = _written(shell, cell)
    options = shlex.split(wanted.options)
    if wanted.grid is None:
        names = [one.name for one in source.kernels_of(path)]
        plain = [name for name in names if "<" not in name]
        for name in plain:
            shell.user_ns[name] = lab.load(path, name, options=options)
        templates = [name for name in names if name not in plain]
        if templates:
            shell.user_ns["cuda_cell"] = str(path)
            return f"{', '.join(templates)}: warpglass.load(cuda_cell, 'NAME<...>') makes an instance"
        return None
    if wanted.block is None:
        raise ArgumentError("%%cuda: --grid needs --block")
    kernel = lab.load(path, wanted.kernel, options=options)
    values = tuple(_evaluated(shell, text) for text in wanted.args)
    launch = (parse_dimensions(wanted.grid), parse_dimensions(wanted.block), values, wanted.shared)
    made = _launch(kernel, launch, wanted)
    if wanted.save:
        shell.user_ns[wanted.save] = made
    return made


def _launch(kernel: lab.Kernel, launch: tuple[Any, ...], wanted: argparse.Namespace) -> object:
    if wanted.check:
        return check(kernel, *launch)
    if wanted.profile:
        return profile(kernel, *launch, listing=True)
    return lab.run(kernel, *launch)


def _words(line: str) -> list[str]:
    """The words behind a magic; quotes and brackets hold expressions together, and only quotes around go."""
    found: list[str] = []
    for word in _WORD.findall(line):
        name, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        found.append(f"{name}{equals}{value}")
    return found


def _evaluated(shell: Any, text: str) -> object:
    """The value of an expression of --args; ArgumentError says what is wrong with it."""
    try:
        return shell.ev(text)
    except Exception as problem:  # the user's expression may raise anything
        raise ArgumentError(f"--args {text}: {type(problem).__name__}: {problem}") from None


def _written(shell: Any, cell: str) -> Path:
    """The cell as a file, named by its number and numbered as in the notebook: the magic is line 1."""
    current = getattr(shell.displayhook, "prompt_count", shell.execution_count)
    path = _folder() / f"cell_{current}.cu"
    if path.exists():  # records of what it had before may name its lines
        path = path.with_stem(f"{path.stem}_{next(_cells)}")
    path.write_text(f"// %%cuda\n{cell}", encoding="utf-8")
    return path


@cache
def _folder() -> Path:
    """Where cells are files for as long as this process lives."""
    folder = Path(tempfile.mkdtemp(prefix="warpglass-cells-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def check_cell(shell: Any, line: str, cell: str) -> None:
    """%%check: run a cell of Python with every launch checked, and show what was found at each place."""
    launches = Launches(_MODEL, ())
    _run(shell, cell, launches.make)
    _show_all(shell, line, launches.checks())


def profile_cell(shell: Any, line: str, cell: str) -> None:
    """%%profile: run a cell of Python with every launch counted, and show each."""
    found: list[Profile] = []
    _run(shell, cell, recorder(found, lambda launch: count_launch(launch, _MODEL, listing=True)))
    _show_all(shell, line, found)


def _run(shell: Any, cell: str, watcher: lab.Watcher) -> None:
    with lab.watching(watcher):
        done = shell.run_cell(cell)
    if done.error_in_exec is not None:
        sys.stderr.write("the cell ended with an error; what follows is what it had launched before\n")


def _show_all(shell: Any, line: str, found: Sequence[object]) -> None:
    """Show results in their order; a name behind the magic keeps them as a list."""
    from IPython.display import display  # pyright: ignore[reportMissingImports]

    show: Callable[[object], object] = display
    name = line.strip()
    if name:
        shell.user_ns[name] = list(found)
    if not found:
        sys.stdout.write("the cell launched no kernel\n")
    for one in found:
        show(one)


def _show_interrupt(
    shell: Any, kind: type[BaseException], problem: BaseException, frames: Any, tb_offset: int | None = None
) -> list[str]:
    """Write where the cell was interrupted; IPython asks for lines in return."""
    said = in_notebook(problem)
    sys.stderr.write("\n".join([*said, ""]))
    return said
