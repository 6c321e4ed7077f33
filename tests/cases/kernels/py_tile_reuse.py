# A fast warp loads the next tile while a slow one still sums the old one: a barrier after the sum is missing.
# launch: grid=1 block=64 args=f4[256]:rand,out:f4[64]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import float32


def buggy(x, y):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for base in range(0, 256, 64):
        tile[t] = x[base + t]  # BUG: shared-race
        cuda.syncthreads()
        for i in range(64):
            total += tile[i]  # OTHER
    y[t] = total


def clean(x, y):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for base in range(0, 256, 64):
        tile[t] = x[base + t]
        cuda.syncthreads()
        for i in range(64):
            total += tile[i]
        cuda.syncthreads()
    y[t] = total
