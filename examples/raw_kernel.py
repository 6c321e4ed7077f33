"""A program that used CuPy's RawKernel and RawModule, on any machine: three kinds of lines are others now.

    import cupy as cp                                       import numpy as cp, warpglass as wg
    cp.RawKernel(SOURCE, "saxpy")                           wg.compile(SOURCE, "saxpy")
    cp.RawModule(code=SOURCE, name_expressions=[...])       wg.compile(SOURCE, "total<double>")
        .get_function("total<double>")
    saxpy((blocks,), (256,), (a, x, y, n))                  wg.run(saxpy, (blocks,), (256,), (a, x, y, n))

The source is the same. On a machine with a GPU, `wg.run` runs it there.
"""

import numpy as cp

import warpglass as wg

SOURCE = r"""
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

template <typename T>
__global__ void total(const T* x, T* sum, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(sum, x[i]);
}
"""


def main() -> None:
    """Run both kernels and compare."""
    saxpy = wg.compile(SOURCE, "saxpy")
    total = wg.compile(SOURCE, "total<double>")

    n = 10_000
    x = cp.arange(n, dtype=cp.float32)
    y = cp.ones(n, dtype=cp.float32)
    wg.run(saxpy, ((n + 255) // 256,), (256,), (cp.float32(2), x, y, cp.int32(n)))
    print(f"saxpy right: {bool((y == 2 * x + 1).all())}")

    values, result = x.astype(cp.float64), cp.zeros(1)
    wg.run(total, (8,), (256,), (values, result, cp.int32(n)))
    print(f"sum: {result[0]:.0f}")


if __name__ == "__main__":
    main()
