"""A launch of one kernel as a command line describes it: file, flags, arguments, variables, results.

Belongs here: what run, check and profile have in common before and after a launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError
from ..records.argument_text import make_arguments, make_marked, parse_argument, parse_setting, parse_size
from .compiler_flags import split_target
from .export import print_tables
from .options import launch_shape, split_kernel

if TYPE_CHECKING:
    from .. import lab

SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Set a __constant__ or __device__ variable: n=5, M=1,2,3, M=f4[9]:rand, M=weights.npy.",
    ),
]
OutOption = Annotated[
    list[str] | None,
    typer.Option(
        "--out",
        metavar="NAME=FILE.npy",
        help="Save an array afterwards; NAME is a parameter, its number from 1, or a variable.",
    ),
]


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """A kernel with the arguments of one launch, which may carry marks; `texts` are they as typed."""

    kernel: lab.Kernel
    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: tuple[Any, ...]
    texts: tuple[str, ...]
    shared: int
    outputs: tuple[tuple[str, Path], ...]

    def names(self) -> tuple[str, ...]:
        """What the arguments are called; numbers where nobody says."""
        from ..records.marks import unmark

        try:
            arguments = self.kernel.compile(unmark(self.args)).arguments
        except ArgumentError:
            arguments = None
        if arguments is None or len(arguments) != len(self.args):
            return tuple(f"argument {number}" for number in range(1, len(self.args) + 1))
        return tuple(argument.name for argument in arguments)

    def arrays(self) -> list[tuple[str, str, Any]]:
        """Name, text and content of every array argument."""
        import numpy as np

        from ..records.marks import unmark

        rows = zip(self.names(), self.texts, unmark(self.args), strict=True)
        return [row for row in rows if isinstance(row[2], np.ndarray)]

    def save(self) -> None:
        """Write the arrays that --out asks for; raises ArgumentError for names that nothing has."""
        import numpy as np

        from ..records.marks import unmark

        names, values = self.names(), unmark(self.args)
        for name, path in self.outputs:
            if name in names or (name.isdecimal() and 0 < int(name) <= len(names)):
                value = values[names.index(name) if name in names else int(name) - 1]
            else:
                value = self.kernel.get(name)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                np.save(path, np.asarray(value))
            except OSError as problem:
                raise ArgumentError(f"{path} cannot be written: {problem.strerror or problem}") from None


def open_launch(
    target: str,
    grid: str | None,
    block: str | None,
    arg: Sequence[str] | None,
    shared: str,
    settings: Sequence[str] | None,
    outputs: Sequence[str] | None,
    flags: Sequence[str] | None,
) -> KernelLaunch:
    """Compile the kernel that a command line names and make its arguments; raises WarpglassError.

    A file without a kernel's name shows what kernels it has, and ends the program; with a launch it means
    the only one.
    """
    from .. import lab

    path, name = split_kernel(target)
    if name is None and grid is None and block is None:
        show_kernels(path)
        raise typer.Exit
    options = split_target(flags)

    def fixed_block() -> tuple[int, ...] | None:
        demands = lab.load(path, name, **options).demands if path.suffix.lower() == ".ptx" else None
        return demands and (demands.threads,)

    launch_grid, launch_block = launch_shape(grid, block, fixed_block)
    saved = tuple(map(_output, outputs or ()))
    values = tuple(make_marked(arg or ()))
    kernel = lab.load(path, name, **options)
    for text in settings or ():
        kernel.set(*parse_setting(text))
    return KernelLaunch(
        kernel,
        name or kernel.name,
        launch_grid,
        launch_block,
        values,
        tuple(arg or ()),
        parse_size(shared),
        saved,
    )


def typed_arguments(kernel: lab.Kernel, arg: Sequence[str]) -> list[Any]:
    """Arguments of the types that a kernel which need not run is compiled for; raises ArgumentError."""
    values = make_arguments([parse_argument(one) for one in arg])
    try:
        kernel.compile(values)
    except ArgumentError as problem:
        hint = "" if arg else "; a Python kernel is compiled for types: give --arg for each, as in f8[1024]"
        raise ArgumentError(f"{problem}{hint}") from None
    return values


def _output(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not equals or not name or not path.lower().endswith(".npy"):
        raise ArgumentError(f"--out {text!r}: write NAME=FILE.npy, as in y=result.npy")
    return name.strip(), Path(path)


def show_kernels(path: Path, form: str | None = None) -> None:
    """Print the kernels of a file with their parameters; in one of the forms of `table_format`, if given."""
    from .. import source
    from ..report.console import stdout_console
    from ..report.listing import kernels_table, print_kernels

    found = source.kernels_of(path)
    if form is not None:
        print_tables([kernels_table(str(path), found)], form)
    else:
        print_kernels(str(path), found, stdout_console())
