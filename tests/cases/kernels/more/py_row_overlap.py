# A row is shorter than the block, and the thread behind its end writes the first element of the next row.
# launch: grid=3 block=32 args=f4[3,31]:rand,f4[3,31]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda


def buggy(x, y):
    flat = cuda.blockIdx.x * 31 + cuda.threadIdx.x
    if flat < x.size:
        r = flat // 31
        y[r, flat - 31 * r] = x[r, flat - 31 * r] * (cuda.blockIdx.x + 1)  # BUG: global-race


def clean(x, y):
    r = cuda.blockIdx.x
    c = cuda.threadIdx.x
    if c < 31:
        y[r, c] = x[r, c] * (r + 1)
