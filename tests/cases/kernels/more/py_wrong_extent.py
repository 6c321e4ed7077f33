# Columns are added up by a block for each, and the stride over rows is that of another dimension.
# launch: grid=4 block=8 args=all:f4[30,4]:rand,out:f4[4]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import float32


def buggy(x, y):  # BUG: unread-input x
    s = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    c = cuda.blockIdx.x
    total = float32(0)
    r = t
    while r < x.shape[1] * 7:
        total += x[r, c]
        r += 8
    s[t] = total
    cuda.syncthreads()
    if t == 0:
        total = float32(0)
        for k in range(8):
            total += s[k]
        y[c] = total


def clean(x, y):
    s = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    c = cuda.blockIdx.x
    total = float32(0)
    r = t
    while r < x.shape[0]:
        total += x[r, c]
        r += 8
    s[t] = total
    cuda.syncthreads()
    if t == 0:
        total = float32(0)
        for k in range(8):
            total += s[k]
        y[c] = total
