# As barriers.cu, in Python.
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import float32


@cuda.jit(device=True)
def step(y, i):
    y[i] += 1
    cuda.syncthreads()  # error of call_under_condition


@cuda.jit(device=True)
def body(x, y, i, n):
    if i >= n:
        return
    y[i] = x[i]
    cuda.syncthreads()


def bad_odd_lanes(x, y, n):
    i = cuda.grid(1)
    if cuda.threadIdx.x % 2 == 0:
        y[i] = 1
        cuda.syncthreads()  # error


def good_even_work(x, y, n):
    i = cuda.grid(1)
    if cuda.threadIdx.x % 2 == 0:
        y[i] = 1
    cuda.syncthreads()


def bad_bounds_around_all(x, y, n):
    s = cuda.shared.array(96, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < n:
        s[t] = x[i]
        cuda.syncthreads()  # error
        y[i] = s[t // 2]


def good_bounds_return(x, y, n):
    s = cuda.shared.array(96, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i >= n:
        return
    s[t] = x[i]
    cuda.syncthreads()
    y[i] = s[t // 2]


def bad_half_warp(x, y, n):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if t < 16:
        cuda.syncthreads()  # error
    y[i] = t


def good_return_then_block_condition(x, y, n):
    i = cuda.grid(1)
    if i >= n:
        return
    if cuda.blockIdx.x == 1:
        y[i] = 1
        cuda.syncthreads()
        y[i] = 2


def bad_behind_a_return(x, y, n):
    i = cuda.grid(1)
    if i >= n:
        return
    if cuda.threadIdx.x < 40:
        y[i] = 1
        cuda.syncthreads()  # error


def bad_trip_counts(x, y, n):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    for k in range(t, n, 32):
        y[i] += k
        cuda.syncthreads()  # error


def good_loop_of_block(x, y, n):
    i = cuda.grid(1)
    for k in range(n // 50):
        y[i] += k
        cuda.syncthreads()


def bad_leaves_by_break(x, y, n):
    i = cuda.grid(1)
    for k in range(4):
        if x[i] > 100 * k + 60:
            break
        y[i] += k
        cuda.syncthreads()  # error


def good_return_in_loop(x, y, n):
    i = cuda.grid(1)
    for k in range(4):
        if i + 20 * k >= n:
            return
        y[i] += k
        cuda.syncthreads()


def bad_call_under_condition(x, y, n):
    i = cuda.grid(1)
    if cuda.threadIdx.x & 1:
        step(y, i)


def good_body(x, y, n):
    body(x, y, cuda.grid(1), n)


def bad_first_warp(x, y, n):
    i = cuda.grid(1)
    if cuda.threadIdx.x < 32:
        y[i] = 1
        cuda.syncthreads()  # warning


def good_first_warp_goes_on(x, y, n):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    cuda.syncthreads()
    if t >= 32:
        return
    y[i] = 1
    cuda.syncthreads()


def bad_counting(x, y, n):
    i = cuda.grid(1)
    if i < n:
        y[i] = cuda.syncthreads_count(1 if x[i] > 3 else 0)  # error


def good_counting_behind_return(x, y, n):
    i = cuda.grid(1)
    if i >= n:
        return
    y[i] = cuda.syncthreads_count(1 if x[i] > 3 else 0)
