# A stencil writes into the array that its neighbours in other blocks still read.
# launch: grid=4 block=32 args=f4[128]:rand,f4[128]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda


def buggy(x, y):
    i = cuda.grid(1)
    if 0 < i < x.size - 1:
        x[i] = (x[i - 1] + x[i + 1]) / 2  # BUG: global-race


def clean(x, y):
    i = cuda.grid(1)
    if 0 < i < x.size - 1:
        y[i] = (x[i - 1] + x[i + 1]) / 2
