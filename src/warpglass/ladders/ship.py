"""Compile the kernels of the ladders and put the PTX into the package: `python -m warpglass.ladders.ship`.

Belongs here: which kernels ship, namely those that a bench can ask for: all rungs, as-written ones too, in
both languages, for every element type and block size; and the kernels that judge results. Machines without a
compiler run these. A test fails when an archive is out of date. Names of ladders may follow the command, or
on_device; all without.
"""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import ladders
from ..engine.launch.backend import Launch, Outcome
from ..source import from_numba, load, shipped
from ..source.compiled import Compiled
from . import device_verdicts
from .ladder import PackagedLadder
from .run import KernelTrial
from .trial import Options, Toolchain
from .tuned import tuned_for

TARGET = "sm_90"


class NoDevice:
    """A back end that runs nothing: what is left of a trial is the compilation."""

    name = "none"
    description = "compiles only"

    def __init__(self, capability: tuple[int, int] | None = None):
        self.capability = capability  # for which rungs are tuned

    def run(self, launch: Launch) -> Outcome:
        """Do nothing."""
        return Outcome(0.0, "engine")

    def read_variable(self, compiled: Compiled, symbol: str) -> bytes | None:
        """No variable is known."""
        return None

    def to_device(self, array: np.ndarray[Any, Any]) -> Any:
        """Return the array itself."""
        return array

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        """Return the array itself."""
        return array

    def copy(self, source: Any, target: Any) -> None:
        """Do nothing."""

    def part(self, array: np.ndarray[Any, Any], start: int, stop: int | None = None) -> np.ndarray[Any, Any]:
        """Return a view."""
        return array[start:stop]

    def flush_caches(self) -> None:
        """Do nothing."""

    def reset(self) -> None:
        """Do nothing."""


def all_ladders(names: Sequence[str] = ()) -> Iterator[tuple[Path, PackagedLadder]]:
    """Yield every ladder, or those named, with its folder."""
    for name in names or ladders.ladder_names():
        ladder = ladders.find_ladder(name)
        folder = importlib.import_module(f"{ladders.__name__}.{name}").__path__[0]
        yield Path(folder), ladder


def all_parts(names: Sequence[str] = ()) -> Iterator[tuple[Path, Callable[[], None]]]:
    """Yield every folder with an archive, or those of these names, and what obtains its kernels."""
    own = device_verdicts.KERNEL.parent
    wanted = [name for name in names or ladders.ladder_names() if name != own.name]
    for folder, ladder in all_ladders(wanted) if wanted else ():
        yield folder, partial(compile_ladder, ladder)
    if not names or own.name in names:
        yield own, compile_verdicts


def compile_ladder(ladder: PackagedLadder) -> None:
    """Obtain every kernel that the ladder can ask for, with the safe parameters and with tuned ones."""
    toolchain = Toolchain(
        open_cuda=partial(load, target=TARGET), open_python=partial(from_numba, target=TARGET)
    )
    rungs = ladder.rungs(Options(as_written=True))
    for table in ladder.problem.tables:
        named = tuple(rung.name for rung in rungs if rung.table == table)
        if named:
            compile_rungs(ladder, named, ladder.problem.dtypes_of(table), toolchain)


def compile_rungs(
    ladder: PackagedLadder, rungs: tuple[str, ...], dtypes: Sequence[str], toolchain: Toolchain
) -> None:
    """Obtain the kernels of some rungs of one table."""
    places = (NoDevice(), *map(NoDevice, tuned_for(ladder.name)))
    sizes = (None, *ladder.problem.shipped)
    for size, dtype, block, place in itertools.product(sizes, dtypes, ladder.problem.blocks, places):
        options = Options(size=size, small=True, dtype=dtype, block=block, rungs=rungs)
        for trial in ladder.trials(options, place, toolchain):
            if isinstance(trial, KernelTrial):
                trial.run()


def compile_verdicts() -> None:
    """Obtain the kernels that judge results on a device."""
    pointer, count = np.zeros(1), np.uint64(1)
    for name in device_verdicts.usual_kernels():
        values = (pointer, pointer, pointer, count, np.float64(0), count, pointer, pointer, pointer)
        load(device_verdicts.KERNEL, name, target=TARGET).compile(values)


def main() -> None:
    """Write the archives."""
    for folder, obtain in all_parts(sys.argv[1:]):
        with shipped.record(fresh=True) as entries:
            obtain()
        archive = folder / shipped.ARCHIVE
        shipped.write(archive, entries)
        sys.stdout.write(f"{archive}: {len(entries)} kernels, {archive.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
