"""One element a thread: thread number i of the grid adds element i, if there is one.

The loop of the host's version is gone: the grid is the loop. Blocks come in whole numbers, so a grid that
covers n elements has up to block - 1 threads too many, and a guard keeps them idle: 100 elements in blocks of
32 take 4 blocks, 128 threads, 28 of them idle.

Look at coalescing: neighbouring threads touch neighbouring elements, so loads and stores move no byte that
nobody wants.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.run import Run
from warpglass.ladders.rung import Claim, Kernel, Rung
from warpglass.ladders.vector.problem import one_thread_each

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def element_per_thread(x: Any, y: Any, z: Any, n: Any) -> None:
    """Add one element."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        z[i] = x[i] + y[i]


def program(run: Run) -> None:
    """Launch a thread for every element."""
    run.launch("element_per_thread", one_thread_each(run.case, run.block), "x", "y", "z", "n")


RUNG = Rung(
    name="element_per_thread",
    table="vector",
    explanation=__doc__ or "",
    follows=None,
    kernels=(
        Kernel(
            name="element_per_thread",
            file=Path(__file__).with_suffix(".cu"),
            cuda="element_per_thread<{type}>",
            python=element_per_thread,
        ),
    ),
    program=program,
    shape=one_thread_each,
    claims=(
        Claim("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "==", 100.0),
        Claim("smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", "==", 100.0),
    ),
)
