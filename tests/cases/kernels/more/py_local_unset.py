# A private table is set only where the input asks for it and is read as a whole.
# launch: grid=1 block=32 args=i4[32]:arange,out:i4[32]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import int32


def buggy(x, y):
    a = cuda.local.array(8, int32)
    t = cuda.threadIdx.x
    a[x[t] % 8] = 5
    total = 0
    for k in range(8):
        total += a[(k + t) % 8]  # BUG: uninitialised-read
    y[t] = total


def clean(x, y):
    a = cuda.local.array(8, int32)
    t = cuda.threadIdx.x
    for k in range(8):
        a[k] = 0
    a[x[t] % 8] = 5
    total = 0
    for k in range(8):
        total += a[(k + t) % 8]
    y[t] = total
