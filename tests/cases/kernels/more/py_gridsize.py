# A stride of the block's size makes blocks do each other's work as well.
# launch: grid=4 block=32 args=f4[256]:rand
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda


def buggy(x):
    i = cuda.grid(1)
    while i < x.size:
        x[i] = x[i] + 1  # BUG: global-race
        i += cuda.blockDim.x


def clean(x):
    i = cuda.grid(1)
    while i < x.size:
        x[i] = x[i] + 1
        i += cuda.gridsize(1)
