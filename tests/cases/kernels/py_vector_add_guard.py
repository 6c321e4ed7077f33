# The grid is rounded up to whole blocks, so the last block has threads past the end that need a guard.
# launch: grid=4 block=32 args=f4[100]:rand,f4[100]:rand,out:f4[100]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda


def buggy(a, b, c):
    i = cuda.grid(1)
    c[i] = a[i] + b[i]  # BUG: out-of-bounds


def clean(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]
