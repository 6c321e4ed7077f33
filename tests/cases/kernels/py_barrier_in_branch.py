# The barrier of a tree of sums stands inside the branch of those who add: the others never come to it.
# launch: grid=1 block=128 args=f4[128]:rand,f4[128]:rand,out:f4[1]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import float32


def buggy(a, b, dot):
    cache = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    cache[t] = a[t] * b[t]
    cuda.syncthreads()
    i = 64
    while i != 0:
        if t < i:
            cache[t] += cache[t + i]
            cuda.syncthreads()  # BUG: barrier-divergence
        i //= 2
    if t == 0:
        dot[0] = cache[0]


def clean(a, b, dot):
    cache = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    cache[t] = a[t] * b[t]
    cuda.syncthreads()
    i = 64
    while i != 0:
        if t < i:
            cache[t] += cache[t + i]
        cuda.syncthreads()
        i //= 2
    if t == 0:
        dot[0] = cache[0]
