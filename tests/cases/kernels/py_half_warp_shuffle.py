# Half a warp shuffles with a mask of the whole warp, whose other half never comes.
# launch: grid=1 block=32 args=f4[32]:rand,out:f4[32]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda


def buggy(x, y):
    lane = cuda.threadIdx.x
    v = x[lane]
    if lane < 16:
        v += cuda.shfl_xor_sync(0xFFFFFFFF, v, 8)  # BUG: sync-mask
    y[lane] = v


def clean(x, y):
    lane = cuda.threadIdx.x
    v = x[lane]
    if lane < 16:
        v += cuda.shfl_xor_sync(0x0000FFFF, v, 8)
    y[lane] = v
