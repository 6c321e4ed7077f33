# Each block scans its part by doubling; without a barrier behind the read a step sees the next one.
# launch: grid=2 block=64 args=i4[128]:arange,out:i4[128]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import int32


def buggy(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    offset = 1
    while offset < 64:
        v = s[t]
        if t >= offset:
            v += s[t - offset]  # OTHER
        s[t] = v  # BUG: shared-race
        cuda.syncthreads()
        offset *= 2
    y[cuda.grid(1)] = s[t]


def clean(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    offset = 1
    while offset < 64:
        v = s[t]
        if t >= offset:
            v += s[t - offset]
        cuda.syncthreads()
        s[t] = v
        cuda.syncthreads()
        offset *= 2
    y[cuda.grid(1)] = s[t]
