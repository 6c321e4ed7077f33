"""Every pass of the many-block sort of a few numbers, seen while its kernels run.

Belongs here: a back end that looks at the array before and after each launch of the host program of a rung.
Nothing is simulated: what it shows is what the kernels did.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from ...engine.launch.backend import Backend, Launch, Outcome
from ...errors import ArgumentError
from ..device_arrays import DeviceArrays
from ..passes import Pass
from ..problem import Array, Question
from ..run import KernelTrial, Setting
from ..trial import Language, Toolchain
from . import multi_block
from .problem import PROBLEM, make_case

# The notes' example: 16 numbers, 4 blocks of 2 threads.
EXAMPLE = (9, 5, 8, 4, 7, 6, 3, 2, 6, 8, 7, 4, 3, 2, 1, 0)
BLOCK = 2


def trace_passes(
    numbers: Array | None, block: int | None, language: Language, backend: Backend, toolchain: Toolchain
) -> tuple[Pass, ...]:
    """Sort `numbers` (float64) in blocks of `block` threads, two numbers each, and return all passes.

    None stands for the notes' example. Raises ArgumentError for an empty array or a block that no GPU has.
    """
    numbers = np.array(EXAMPLE, np.float64) if numbers is None else numbers
    block = BLOCK if block is None else block
    if numbers.size == 0:
        raise ArgumentError("no numbers to sort")
    if not 1 <= block <= 1024:
        raise ArgumentError(f"block {block}: a block has 1 to 1024 threads")
    question = Question("oddeven_sort", numbers.size, numbers.dtype, "permutation", 0)
    case = replace(make_case(question), arrays={"x": numbers})
    watching = _Watching(backend, numbers.size)
    arrays = DeviceArrays(case, cast("Backend", watching))
    watching.whole = arrays["x"]
    setting = Setting("oddeven_sort", "", block, "host", timeout=60.0)
    rung = multi_block.RUNG.completed(multi_block, PROBLEM)
    KernelTrial(rung, language, arrays, setting, toolchain).run()
    return tuple(watching.passes)


class _Watching:
    """A back end that notes each launch; everything else is the real one's."""

    def __init__(self, backend: Backend, size: int):
        self._backend = backend
        self._size = size
        self.whole: Any = None
        self.passes: list[Pass] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def run(self, launch: Launch) -> Outcome:
        """Make a launch, with a look at the numbers before and after."""
        before = self._backend.to_host(self.whole).copy()
        outcome = self._backend.run(launch)
        after = self._backend.to_host(self.whole)
        blocks, threads = launch.grid[0], launch.block[0]
        shifted = int(np.asarray(launch.args[1])) < self._size
        cuts = [threads * shifted + 2 * threads * number for number in range(blocks + 1)]
        name = f"{len(self.passes) // 2 + 1}{'ab'[shifted]}"
        self.passes.append(Pass(name, blocks, _parts(before, cuts), _parts(after, cuts)))
        return outcome


def _parts(array: Array, cuts: list[int]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(part.tolist()) for part in np.split(array, cuts) if part.size)
