# A warp hands values on through shared memory and only votes in between, under a mask of half its lanes.
# launch: grid=1 block=32 args=i4[32]:arange,out:i4[32]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import int32


def buggy(x, y):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # OTHER
    y[t] = s[31 - t]  # BUG: warp-race


def clean(x, y):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncwarp()
    y[t] = s[31 - t]
