# A private array is longer by one than it was declared.
# launch: grid=1 block=32 args=f4[64]:rand,out:f4[32]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import float32


def buggy(x, y):
    a = cuda.local.array(4, float32)
    t = cuda.threadIdx.x
    for k in range(5):
        a[k] = x[t + k]  # BUG: out-of-bounds
    m = a[0]
    for k in range(4):
        m = max(m, a[(k + t) % 4])
    y[t] = m


def clean(x, y):
    a = cuda.local.array(4, float32)
    t = cuda.threadIdx.x
    for k in range(4):
        a[k] = x[t + k]
    m = a[0]
    for k in range(4):
        m = max(m, a[(k + t) % 4])
    y[t] = m
