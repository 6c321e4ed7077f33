# The maximum is found by a comparison and a store instead of an atomic operation.
# launch: grid=4 block=32 args=i4[128]:rand,i4[1]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda


def buggy(x, best):
    i = cuda.grid(1)
    if x[i] > best[0]:  # OTHER
        best[0] = x[i]  # BUG: global-race


def clean(x, best):
    i = cuda.grid(1)
    cuda.atomic.max(best, 0, x[i])
