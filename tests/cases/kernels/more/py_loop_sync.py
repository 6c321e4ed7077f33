# Threads leave a loop with a barrier when their own value is small.
# launch: grid=1 block=64 args=i4[64]:range,i4[64]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
import numpy as np
from numba_cuda_mlir import cuda


def buggy(x, y):
    s = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    left = x[t] % 5
    s[t] = 0
    while left > 0:
        s[t] += 1
        cuda.syncthreads()  # BUG: barrier-divergence
        left -= 1
    y[t] = s[t]


def clean(x, y):
    s = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    left = x[t] % 5
    s[t] = 0
    for _ in range(5):
        s[t] += 1
        cuda.syncthreads()
        left -= 1
    y[t] = s[t]
