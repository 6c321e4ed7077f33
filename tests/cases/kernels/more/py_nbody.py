# Bodies behind the last one do not come to the barriers of the tiles.
# launch: grid=1 block=64 args=f4[50]:rand,f4[50]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
import numpy as np
from numba_cuda_mlir import cuda


def buggy(x, f):
    tile = cuda.shared.array(64, np.float32)
    i = cuda.grid(1)
    n = x.shape[0]
    acc = np.float32(0)
    if i < n:
        if i < n:
            tile[cuda.threadIdx.x] = x[i]
        cuda.syncthreads()  # BUG: barrier-divergence
        for k in range(n):
            acc += tile[k] - np.float32(0.5)
    if i < n:
        f[i] = acc


def clean(x, f):
    tile = cuda.shared.array(64, np.float32)
    i = cuda.grid(1)
    n = x.shape[0]
    acc = np.float32(0)
    if n > 0:
        if i < n:
            tile[cuda.threadIdx.x] = x[i]
        cuda.syncthreads()
        for k in range(n):
            acc += tile[k] - np.float32(0.5)
    if i < n:
        f[i] = acc
