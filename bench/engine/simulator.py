"""One block of a case in numba's CUDA simulator, which runs every thread as a thread of Python.

The simulator has no way to run a part of a grid, so this does what its launch does, for a few blocks spread
over the grid: what the first one computes may take less than others, as in a picture's corner. It works in a
process of its own that is given up after a while: some kernels would take hours.
"""

from __future__ import annotations

import multiprocessing
import time
from math import prod
from statistics import fmean
from typing import Any

from .case import Case, extents, module

_PATIENCE = 20.0  # seconds for one block
_BLOCKS, _ENOUGH = 7, 4.0  # blocks to take the mean of, and seconds after which there are enough


def one_block(theme: str, case: Case) -> dict[str, float | bool]:
    """Seconds of a block, the mean of a few; `more` says that the first of them had not ended by then."""
    context = multiprocessing.get_context("spawn")
    theirs, ours = context.Pipe()
    process = context.Process(target=_simulate, args=(theme, case.name, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        if not ours.poll(_PATIENCE + 10):  # with the process's start
            return {"seconds": _PATIENCE, "more": True}
        return {"seconds": ours.recv(), "more": False}
    except EOFError:
        raise SystemExit(f"{case.name}: numba's simulator cannot run it; what it says is above") from None
    finally:
        process.kill()
        process.join()


def _simulate(theme: str, name: str, answer: Any) -> None:
    from numba import cuda
    from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray
    from numba.cuda.simulator.kernel import BlockManager
    from numba.cuda.simulator.kernelapi import FakeCUDAModule, swapped_cuda_module

    case = next(case for case in module(theme).CASES if case.name == name)
    function = getattr(module(theme), case.function)
    function.__globals__["cuda"] = cuda
    grid, block = (_three(extent) for extent in (case.grid, case.block))
    args = [FakeCUDAArray(one) if hasattr(one, "shape") and one.shape else one for one in case.make()]
    with swapped_cuda_module(function, FakeCUDAModule(grid, block, 0)):
        taken: list[float] = []
        for place in _places(prod(grid)):
            at = (place % grid[0], place // grid[0] % grid[1], place // (grid[0] * grid[1]))
            started = time.perf_counter()
            BlockManager(function, grid, block, False).run(at, *args)
            taken.append(time.perf_counter() - started)
            if sum(taken) > _ENOUGH:
                break
        answer.send(fmean(taken))


def _places(blocks: int) -> list[int]:
    """Numbers of a few blocks spread over a grid, each in the middle of its part."""
    count = min(blocks, _BLOCKS)
    return [blocks * (2 * k + 1) // (2 * count) for k in range(count)]


def _three(extent: Any) -> tuple[int, ...]:
    return (*extents(extent), 1, 1)[:3]
