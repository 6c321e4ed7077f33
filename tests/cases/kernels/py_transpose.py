# A tile is read across before all of its rows are there; its padding column is never touched, which is right.
# launch: grid=2,2 block=16,16 args=f4[32,32]:rand,out:f4[32,32]
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import float32


def buggy(x, y):
    tile = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    bx, by = 16 * cuda.blockIdx.x, 16 * cuda.blockIdx.y
    tile[ty, tx] = x[by + ty, bx + tx]  # OTHER
    y[bx + ty, by + tx] = tile[tx, ty]  # BUG: shared-race


def clean(x, y):
    tile = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    bx, by = 16 * cuda.blockIdx.x, 16 * cuda.blockIdx.y
    tile[ty, tx] = x[by + ty, bx + tx]
    cuda.syncthreads()
    y[bx + ty, by + tx] = tile[tx, ty]
