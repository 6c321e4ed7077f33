# Blocks count into the same bins: increments get lost, atomic ones do not.
# launch: grid=4 block=64 args=u1[256]:rand,i4[16]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda


def buggy(x, bins):
    i = cuda.grid(1)
    bins[x[i] % 16] += 1  # BUG: global-race


def clean(x, bins):
    i = cuda.grid(1)
    cuda.atomic.add(bins, x[i] % 16, 1)
