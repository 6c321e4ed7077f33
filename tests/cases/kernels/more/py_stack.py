# Pushes to a stack take their place and count it in two steps.
# launch: grid=2 block=32 args=i4[64]:rand,i4[64],i4[1]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda


def buggy(x, stack, top):
    i = cuda.grid(1)
    k = top[0]  # BUG: global-race
    stack[k] = x[i]
    top[0] = k + 1  # BUG: global-race


def clean(x, stack, top):
    i = cuda.grid(1)
    k = cuda.atomic.add(top, 0, 1)
    stack[k] = x[i]
