# The barrier of a tile loop stands behind an early continue.
# launch: grid=1 block=64 args=f4[256]:rand,out:f4[64],i4=250
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import float32


def buggy(x, y, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for k in range(4):
        if 64 * k + t >= n:
            continue
        s[t] = x[64 * k + t]
        cuda.syncthreads()  # BUG: barrier-divergence
        total += s[t ^ 1]
        cuda.syncthreads()  # BUG: barrier-divergence
    cuda.syncthreads()
    y[t] = total


def clean(x, y, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for k in range(4):
        s[t] = x[64 * k + t] if 64 * k + t < n else 0
        cuda.syncthreads()
        total += s[t ^ 1]
        cuda.syncthreads()
    cuda.syncthreads()
    y[t] = total
