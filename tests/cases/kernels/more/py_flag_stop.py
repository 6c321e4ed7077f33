# A shared flag that ends the loop is set again before all have read it.
# launch: grid=1 block=96 args=i4[96]:rand,i4[96]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import int32


def buggy(x, y):
    more = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    left = x[t] & 7
    passes = 0
    while True:
        if t == 0:
            more[0] = 0  # BUG: shared-race
        cuda.syncthreads()
        if left > 0:
            left -= 1
            cuda.atomic.max(more, 0, 1)
        cuda.syncthreads()
        passes += 1
        if more[0] == 0:  # OTHER
            break
    y[t] = passes


def clean(x, y):
    more = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    left = x[t] & 7
    passes = 0
    while True:
        if t == 0:
            more[0] = 0
        cuda.syncthreads()
        if left > 0:
            left -= 1
            cuda.atomic.max(more, 0, 1)
        cuda.syncthreads()
        passes += 1
        go = more[0]
        cuda.syncthreads()
        if go == 0:
            break
    y[t] = passes
