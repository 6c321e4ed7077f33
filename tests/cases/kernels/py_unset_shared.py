# Shared memory is not zero at the start: elements without input must be set before the sum.
# launch: grid=1 block=64 args=f4[50]:rand,out:f4[64]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import float32


def buggy(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < x.size:
        s[t] = x[t]
    cuda.syncthreads()
    y[t] = s[63 - t] * 2  # BUG: uninitialised-read


def clean(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < x.size:
        s[t] = x[t]
    else:
        s[t] = 0
    cuda.syncthreads()
    y[t] = s[63 - t] * 2
