# A negative index counts from the end in Python, so the left neighbour of the first is the last, by mistake.
# launch: grid=1 block=32 args=f4[32]:rand,out:f4[30]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda


def buggy(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]  # BUG: out-of-bounds


def clean(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[i]
