# A thread reads what a thread of another warp has written, without a barrier in between.
# launch: grid=1 block=128 args=f8[128]:rand,out:f8[128]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import float64


def buggy(x, y):
    s = cuda.shared.array(128, float64)
    t = cuda.threadIdx.x
    s[t] = x[t]  # OTHER
    y[t] = s[127 - t]  # BUG: shared-race


def clean(x, y):
    s = cuda.shared.array(128, float64)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    y[t] = s[127 - t]
