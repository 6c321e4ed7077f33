"""Races that a line or two mend: one block of 128 threads, x of 512 floats, n = 4."""

# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false

from numba_cuda_mlir import cuda, types


def straight(x, n):
    s = cuda.shared.array(128, types.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    x[t] = s[127 - t]


def end_of_loop(x, n):
    s = cuda.shared.array(128, types.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    for _ in range(n):
        v = s[(t + 1) % 128]
        cuda.syncthreads()
        s[t] = v + 1
    x[t] = s[t]


def tree(x, n):
    s = cuda.shared.array(128, types.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    k = 64
    while k > 0:
        if t < k:
            s[t] += s[t + k]
        k //= 2
    if t == 0:
        x[0] = s[0]


def of_the_warp(x, n):
    s = cuda.shared.array(128, types.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    x[t] = s[t ^ 1]
