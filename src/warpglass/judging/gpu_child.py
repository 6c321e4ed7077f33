"""The process in which one submission runs on a GPU: a folder with a request in, times and arrays out.

    python -m warpglass.judging.gpu_child FOLDER

It knows the task without its reference. After each launch it writes a line to the folder's answers; what the
kernel prints goes to standard output. A request of None asks for the GPU's name. Such processes take turns
with their launches, so that none disturbs the times of another.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .. import lab
from ..errors import CompileError, KernelTimeout, LaunchError, WarpglassError
from ..host.locks import slot
from ..records.argument_text import parse_setting
from ..source import FixedSource
from ..source.cache import directory
from .cases import arguments, made
from .gpu import ANSWERS, REQUEST, TIMED, array_file
from .task import Task

_WARMING = 0.2  # seconds of work after which a GPU runs at its clock
_PAUSE = 0.005  # seconds between two looks at whether it is this process's turn


def main(folder: Path) -> None:
    """Do what the folder's request asks for."""
    request = pickle.loads((folder / REQUEST).read_bytes())
    with (folder / ANSWERS).open("a", encoding="utf-8", buffering=1) as answers:

        def tell(**said: Any) -> None:
            answers.write(json.dumps(said) + "\n")

        try:
            place: Any = lab.backend("gpu")
        except WarpglassError as problem:
            tell(text=str(problem).removeprefix("no GPU: "))
            return
        if request is None:
            tell(device=place.description)
            return
        compiled, task = request
        _launches(lab.Kernel(FixedSource(compiled)), task, place, folder, tell)
    sys.stdout.flush()
    os._exit(0)  # without waiting for what a kernel may still be doing


def _launches(kernel: lab.Kernel, task: Task, place: Any, folder: Path, tell: Any) -> None:
    begun, index = time.monotonic(), 0
    while time.monotonic() - begun < _WARMING:
        place.flush_caches()
    place.time_exactly()
    try:
        for index, case in enumerate(task.cases):
            for text in case.variables:
                kernel.set(*parse_setting(text))
            for draw in range(1 + TIMED):
                args = arguments(task, index, draw)
                with _turn():
                    ran = lab.run(
                        *(kernel, case.grid, case.block, args, case.shared),
                        device="gpu",
                        timeout=task.limits.run,
                        model=task.model,
                    )
                if draw:  # the first has loaded the kernel
                    _keep(args, made(task, index, draw), folder, (index, draw))
                    tell(case=index, draw=draw, seconds=ran.seconds)
    except WarpglassError as problem:
        tell(kind=_kind(problem), case=index, text=str(problem))


@contextmanager
def _turn() -> Iterator[None]:
    """Wait until no other process of a judging on this machine uses the GPU."""
    folder = directory() or Path(tempfile.gettempdir())
    while True:
        with slot(folder, "judging-gpu", 1) as free:
            if free:
                yield
                return
        time.sleep(_PAUSE)


def _keep(args: list[Any], before: Any, folder: Path, place: tuple[int, int]) -> None:
    """Write the arrays that are not as they were."""
    for position, (after, first) in enumerate(zip(args, before, strict=True)):
        if isinstance(after, np.ndarray) and not np.array_equal(after.view(np.uint8), first.view(np.uint8)):
            np.save(folder / array_file(*place, position), after.view(np.uint8))


def _kind(problem: WarpglassError) -> str:
    match problem:
        case KernelTimeout():
            return "timeout"
        case LaunchError(sticky=True):
            return "fault"
        case LaunchError():
            return "launch"
        case CompileError():
            return "compile"
        case _:
            return "other"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
