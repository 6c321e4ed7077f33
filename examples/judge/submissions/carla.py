from numba_cuda_mlir import cuda


@cuda.jit
def add(x, y, out, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        out[i] = x[i] + y[i]
