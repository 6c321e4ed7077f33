// Each thread whose index is a multiple of 2 * stride adds its neighbour at distance stride.
// The explanation, the launch arithmetic and the Python twin are in neighbored.py.
template <typename T>
__global__ void neighbored(T *x, T *partial, unsigned int n)
{
    const unsigned int tid = threadIdx.x;
    const unsigned int base = blockIdx.x * blockDim.x;
    T *data = x + base;
    const unsigned int count = base < n ? n - base : 0;  // elements left from this block on

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0 && tid + stride < count) data[tid] += data[tid + stride];
        __syncthreads();
    }

    if (tid == 0) partial[blockIdx.x] = count > 0 ? data[0] : T(0);
}
