"""The command `trace`: the passes of one sort, shown. Words are report/'s."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from ..errors import ArgumentError
from .compiler_flags import CompilerOption, ladder_options
from .options import DeviceOption


def trace(
    ladder: Annotated[str, typer.Argument(help="The ladder whose steps to show, as oddeven_sort.")],
    numbers: Annotated[
        list[str] | None,
        typer.Argument(help="What to sort, as in 3 1 2 or 3,1,2; the 16 numbers of the notes if none."),
    ] = None,
    block: Annotated[int | None, typer.Option(help="Threads per block; each has two numbers.")] = None,
    language: Annotated[str, typer.Option(help="The kernel's: cuda or python.")] = "cuda",
    device: DeviceOption = "auto",
    flags: CompilerOption = None,
) -> None:
    """Sort a few numbers in many blocks and print every pass of the kernels."""
    import numpy as np

    from .. import lab, source
    from ..ladders import find_ladder, ladder_names
    from ..ladders.trial import Toolchain
    from ..report.console import stdout_console
    from ..report.trace import print_trace

    run = find_ladder(ladder).trace
    if run is None:
        traced = (name for name in ladder_names() if find_ladder(name).trace is not None)
        raise ArgumentError(f"{ladder}: only {', '.join(traced)} has steps to trace")
    if language not in ("cuda", "python"):
        raise ArgumentError(f"language {language!r}: cuda or python")
    chosen = np.array(parse_numbers(numbers)) if numbers else None
    open_cuda = partial(source.load, options=ladder_options(flags))
    toolchain = Toolchain(open_cuda=open_cuda, open_python=source.from_numba)
    print_trace(run(chosen, block, language, lab.backend(device), toolchain), stdout_console())


def parse_numbers(texts: list[str]) -> list[float]:
    """Numbers from words, each of which may hold several between commas; ArgumentError names a bad one."""
    found: list[float] = []
    for text in ",".join(texts).split(","):
        try:
            found.append(float(text))
        except ValueError:
            raise ArgumentError(f"{text!r} is no number; numbers are written 3 1 2 or 3,1,2") from None
    return found
