"""One element a thread: a row of A times a column of B, read from global memory element by element.

Threads form squares, as the matrices do: x counts columns, y rows, and a guard idles what reaches beyond the
matrix. Every thread reads 2 n elements for its one result, so the grid reads 2 n^3, n times as many as there
are.

Look at the ratio of work to traffic: two operations (multiply, add) for two loads of 4 bytes, 0.25 operations
a byte. Caches soften it: lanes of a row read the same element of A and neighbouring ones of B. But each of
these loads is an instruction that the load units must handle, and there are two for every useful one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.matmul.problem import all_products, one_thread_each
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Claim, Kernel, Rung

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def naive(a: Any, b: Any, c: Any, n: Any) -> None:
    """Compute one element of c = a b."""
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    column = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < n and column < n:
        total = a.dtype.type(0)
        for k in range(n):
            total += a[row, k] * b[k, column]
        c[row, column] = total


def program(run: Run) -> None:
    """Launch a thread for every element."""
    run.launch("naive", one_thread_each(run.case, run.block), "a", "b", "c", "n")


RUNG = Rung(
    name="naive",
    table="matmul",
    explanation=__doc__ or "",
    follows=None,
    kernels=(
        Kernel(name="naive", file=Path(__file__).with_suffix(".cu"), cuda="naive<{type}>", python=naive),
    ),
    program=program,
    shape=one_thread_each,
    depth=all_products,
    claims=(Claim("smsp__inst_executed_op_shared_ld.sum", "==", 0.0),),
)
