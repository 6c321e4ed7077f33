"""The command `check`: its options and its exit status. Words are report/'s; cli.py registers it.

Like there, imports stand inside the function.
"""

from __future__ import annotations

from typing import Annotated

import typer

from .argument_text import make_arguments, parse_argument, parse_dimensions, parse_size, parse_target
from .errors import ArgumentError

FOUND = 1  # exit status when something is found


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command()(check)


def check(
    target: Annotated[
        str, typer.Argument(metavar="FILE:KERNEL", help="As in reduce.cu:sum<512> or k.py:sum.")
    ],
    grid: Annotated[str, typer.Option(help="Blocks: 1024, 32x32 or 8,8,8.")],
    block: Annotated[str, typer.Option(help="Threads per block, likewise.")],
    arg: Annotated[
        list[str] | None,
        typer.Option(
            help="f8[1048576]:rand, f8[2048], u4=1048576; in order. Fills: zero, one, rand, perm, arange. "
            "out:f8[2048] must be written whole, all:f8[1024]:rand read whole."
        ),
    ] = None,
    shared: Annotated[str, typer.Option(help="Bytes of dynamic shared memory.")] = "0",
    model: Annotated[str, typer.Option(help="The GPU whose limits apply.")] = "h100",
    json_output: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    timeout: Annotated[float, typer.Option(help="Seconds after which the launch is stopped.")] = 60.0,
) -> None:
    """Run one kernel once on the engine and find races, bad barriers, bounds and undefined reads.

    Exit status: 0 if nothing is found, 1 if something is.
    """
    from . import lab, lab_check
    from .report.check import print_check
    from .report.console import stdout_console

    path, name = parse_target(target)
    if not path.is_file():
        raise ArgumentError(f"no file {path}")
    kernel = lab.load(path, name)
    found = lab_check.check(
        kernel,
        parse_dimensions(grid),
        parse_dimensions(block),
        _arguments(arg or []),
        shared=parse_size(shared),
        model=model,
        timeout=timeout,
    )
    if json_output:
        typer.echo(found.to_json(), nl=False)
    else:
        print_check(found, stdout_console())
    if found.findings:
        raise typer.Exit(FOUND)


def _arguments(texts: list[str]) -> list[object]:
    """The arguments that --arg describes, with their marks."""
    from .marks import all_of, out

    marks = {"out": out, "all": all_of}
    parts = [text.partition(":") if text.partition(":")[0] in marks else ("", "", text) for text in texts]
    made = make_arguments([parse_argument(text) for _, _, text in parts])
    return [marks[mark](value) if mark else value for (mark, _, _), value in zip(parts, made, strict=True)]
