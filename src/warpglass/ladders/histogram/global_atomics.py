"""One key a thread, and an atomic addition to global memory for each: right, and slow where keys agree.

Without atomics two threads could read the same count and both write it plus one. Atomics on one address are
done one after the other, wherever the threads are.

Look at the atomics' transactions, and bench with --data equal: all threads of the grid then wait for one
counter.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warpglass.ladders.histogram.problem import one_thread_each
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Claim, Kernel, Rung

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def global_atomics(x: Any, counts: Any, n: Any, bins: Any) -> None:
    """Count one key."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        bin = np.int64(x[i])  # numba-cuda-mlir takes an unsigned index for a signed one
        if bin >= 0 and bin < bins:
            cuda.atomic.add(counts, bin, 1)


KERNEL = Kernel(
    name="global_atomics",
    file=Path(__file__).with_suffix(".cu"),
    cuda="global_atomics<{type}>",
    python=global_atomics,
)


def program(run: Run) -> None:
    """Launch a thread for every key."""
    run.launch("global_atomics", one_thread_each(run.case, run.block), "x", "counts", "n", "bins")


RUNG = Rung(
    name="global_atomics",
    table="bytes",
    explanation=__doc__ or "",
    follows="on_host",
    kernels=(KERNEL,),
    program=program,
    shape=one_thread_each,
    claims=(Claim("atomic_transactions", ">", 0.0),),
)
