# Two arrays take turns, and the loop swaps them without a barrier in between.
# launch: grid=1 block=64 args=f4[64]:rand,f4[64]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda


def buggy(a, b):
    t = cuda.threadIdx.x
    for _ in range(2):
        b[t] = a[t] + a[(t + 1) % 64]  # BUG: global-race
        cuda.syncthreads()
        a[t] = b[t] + b[(t + 1) % 64]  # OTHER


def clean(a, b):
    t = cuda.threadIdx.x
    for _ in range(2):
        b[t] = a[t] + a[(t + 1) % 64]
        cuda.syncthreads()
        a[t] = b[t] + b[(t + 1) % 64]
        cuda.syncthreads()
