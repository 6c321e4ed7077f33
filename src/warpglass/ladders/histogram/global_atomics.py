"""One key a thread, and an atomic addition to global memory for each: right, and slow where keys agree.

Without atomics two threads could read the same count and both write it plus one. Atomics on one address are
done one after the other, wherever the threads are.

Look at the atomics' transactions, and bench with --data equal: all threads of the grid then wait for one
counter.
"""

from typing import Any

import numpy as np

from warpglass.ladders.rung import Claim, Rung, cuda


def global_atomics(x: Any, counts: Any, n: Any, bins: Any) -> None:
    """Count one key."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        bin = np.int64(x[i])  # numba-cuda-mlir takes an unsigned index for a signed one
        if bin >= 0 and bin < bins:
            cuda.atomic.add(counts, bin, 1)


RUNG = Rung(
    table="bytes",
    follows="on_host",
    claims=(Claim("atomic_transactions", ">", 0.0),),
)
