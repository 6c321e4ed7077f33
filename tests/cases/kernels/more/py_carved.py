# Two halves of a shared array overlap by a wrong offset.
# launch: grid=1 block=32 args=f4[32]:rand,f4[32]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
import numpy as np
from numba_cuda_mlir import cuda


def buggy(x, y):
    pool = cuda.shared.array(64, np.float32)
    first = pool[:32]
    second = pool[16:]
    t = cuda.threadIdx.x
    first[t] = x[t]  # BUG: warp-race
    second[t] = 2 * x[t]  # OTHER
    cuda.syncthreads()
    y[t] = first[31 - t] + second[31 - t]


def clean(x, y):
    pool = cuda.shared.array(64, np.float32)
    first = pool[:32]
    second = pool[32:]
    t = cuda.threadIdx.x
    first[t] = x[t]
    second[t] = 2 * x[t]
    cuda.syncthreads()
    y[t] = first[31 - t] + second[31 - t]
