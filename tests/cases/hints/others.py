"""Races that no added line mends: one block of 128 threads, x of 512 floats, n = 4."""

# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false

from numba_cuda_mlir import cuda, types


def sum_of_all(x, n):
    x[0] += cuda.threadIdx.x  # HINT: cuda.atomic.add()


def in_a_branch(x, n):
    s = cuda.shared.array(128, types.float32)
    t = cuda.threadIdx.x
    if t < 100:  # HINT: a barrier cannot stand under it
        s[t] = x[t]
        x[t] = s[99 - t]


def between_blocks(x, n):  # two blocks
    i = cuda.grid(1)
    x[i] = 1
    x[256 + i] = x[255 - i]  # HINT: cuda.threadfence() (which numba-cuda-mlir


def dynamic(x, n):
    first = cuda.shared.array(0, types.float32)
    second = cuda.shared.array(0, dtype=types.int32)
    t = cuda.threadIdx.x
    first[t] = x[t]
    second[127 - t] = 1  # HINT: first and second are the same dynamic shared memory
    cuda.syncthreads()
    x[t] = first[t] + second[t]


def carved(x, n):
    pool = cuda.shared.array(256, types.float32)
    first = pool[:128]
    second = pool[32:]
    t = cuda.threadIdx.x
    first[t] = x[t]
    second[t] = 1  # HINT: first and second are parts of one array that overlap
    cuda.syncthreads()
    x[t] = first[t] + second[127 - t]


def compared(x, n):  # two blocks
    if cuda.threadIdx.x > x[0]:
        x[0] = cuda.threadIdx.x  # HINT: make it one operation, cuda.atomic.max()


def counted_in_lines(x, n):  # two blocks
    before = x[0]
    x[1 + cuda.grid(1)] = before
    x[0] = before + 1  # HINT: make it one operation, cuda.atomic.add()


def stepped(x, n):  # two blocks
    for i in range(cuda.threadIdx.x, x.size, cuda.gridsize(1)):
        x[i] = x[i] + n  # HINT: make it one operation, cuda.atomic.add()
