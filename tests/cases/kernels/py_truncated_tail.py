# The loop over chunks runs size // chunk times, so an incomplete last chunk is never added.
# launch: grid=1 block=32 args=all:f4[100]:rand,f4[1]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda


def buggy(x, y):  # BUG: unread-input x
    t = cuda.threadIdx.x
    for chunk in range(x.size // 32):
        cuda.atomic.add(y, 0, x[32 * chunk + t])


def clean(x, y):
    t = cuda.threadIdx.x
    for chunk in range((x.size + 31) // 32):
        if 32 * chunk + t < x.size:
            cuda.atomic.add(y, 0, x[32 * chunk + t])
