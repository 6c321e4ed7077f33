"""The number of blocks is the ceiling of a division that has already been rounded down.

warpglass check examples/notes_defects/rounded_down.py
"""

import math

import numpy as np
from numba_cuda_mlir import cuda

import warpglass as wg


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


n, block = 100, 32
a, b, c = np.arange(n), np.ones(n, int), np.zeros(n, int)
wg.from_numba(add)[math.ceil(n // block), block](a, b, wg.out(c))  # unwritten-output
