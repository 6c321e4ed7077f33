# The last warp's steps need a warp barrier between them: lanes do not run in lockstep.
# launch: grid=1 block=64 args=f4[64]:rand,out:f4[1]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import float32


def buggy(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    stride = 32
    while stride > 0:
        if t < stride:
            s[t] += s[t + stride]  # BUG: warp-race
        stride //= 2
    if t == 0:
        y[0] = s[0]


def clean(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    stride = 32
    while stride > 0:
        if t < stride:
            s[t] += s[t + stride]
        cuda.syncwarp()
        stride //= 2
    if t == 0:
        y[0] = s[0]
