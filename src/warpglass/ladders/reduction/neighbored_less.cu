// The same pairs as neighbored, handed to consecutive threads.
// The explanation, the launch arithmetic and the Python twin are in neighbored_less.py.
template <typename T>
__global__ void neighbored_less(T *x, T *partial, unsigned int n)
{
    const unsigned int tid = threadIdx.x;
    const unsigned int base = blockIdx.x * blockDim.x;
    T *data = x + base;
    const unsigned int count = base < n ? n - base : 0;  // elements left from this block on

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        const unsigned int index = 2 * stride * tid;
        if (index < blockDim.x && index + stride < count) data[index] += data[index + stride];
        __syncthreads();
    }

    if (tid == 0) partial[blockIdx.x] = count > 0 ? data[0] : T(0);
}
