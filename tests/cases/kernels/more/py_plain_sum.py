# The sum of a block is added to one element by all of its threads, in place of one of them.
# launch: grid=2 block=32 args=f4[64]:rand,f4[2]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda


def buggy(x, y):
    y[cuda.blockIdx.x] += x[cuda.grid(1)]  # BUG: warp-race


def clean(x, y):
    cuda.atomic.add(y, cuda.blockIdx.x, x[cuda.grid(1)])
