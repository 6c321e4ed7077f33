"""Vector addition, one element a thread: the guard keeps the last block's idle threads off the arrays.

An ordinary numba.cuda kernel. warpglass takes it as it is and needs no GPU to run it.
"""

import numpy as np
from numba_cuda_mlir import cuda

import warpglass as wg


@cuda.jit
def add(a, b, total):
    """Add two vectors."""
    i = cuda.grid(1)
    if i < total.size:
        total[i] = a[i] + b[i]


def main() -> None:
    """Add 100 elements in blocks of 32: 4 blocks, 128 threads, of which 28 are idle."""
    n, block = 100, 32
    grid = -(-n // block)
    a, b, total = np.arange(n, dtype=np.float32), np.full(n, 0.5, np.float32), np.zeros(n, np.float32)
    run = wg.run(wg.from_numba(add), grid, block, [a, b, total])
    print(f"{grid} blocks of {block} threads for {n} elements: {grid * block - n} threads idle")
    print(
        f"right: {np.array_equal(total, a + b)}, {run.label} time {run.seconds * 1e6:.0f} us on {run.device}"
    )


if __name__ == "__main__":
    main()
