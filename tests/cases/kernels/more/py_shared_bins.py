# Bins are counted by adding in place instead of by an atomic operation, in shared memory.
# launch: grid=1 block=96 args=i4[96]:arange,i4[8]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import int32


def buggy(x, y):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        s[t] = 0
    cuda.syncthreads()
    s[x[t] % 8] += 1  # BUG: shared-race
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(y, t, s[t])


def clean(x, y):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        s[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, x[t] % 8, 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(y, t, s[t])
