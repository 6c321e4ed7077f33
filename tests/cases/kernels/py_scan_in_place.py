# Hillis and Steele's scan in one array: without a barrier between read and write, sums mix two steps.
# launch: grid=1 block=128 args=f8[128]:rand,out:f8[128]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import float64


def buggy(x, y):
    s = cuda.shared.array(128, float64)
    t = cuda.threadIdx.x
    s[t] = x[t]
    offset = 1
    while offset < 128:
        cuda.syncthreads()
        left = 0.0
        if t >= offset:
            left = s[t - offset]  # OTHER
        s[t] += left  # BUG: shared-race
        offset *= 2
    y[t] = s[t]


def clean(x, y):
    s = cuda.shared.array(128, float64)
    t = cuda.threadIdx.x
    s[t] = x[t]
    offset = 1
    while offset < 128:
        cuda.syncthreads()
        left = 0.0
        if t >= offset:
            left = s[t - offset]
        cuda.syncthreads()
        s[t] += left
        offset *= 2
    y[t] = s[t]
