// A thread first adds the element of the next data block, then the block reduces as in interleaved.
// The explanation, the launch arithmetic and the Python twin are in unroll2.py.
template <typename T>
__global__ void unroll2(T *x, T *partial, unsigned int n)
{
    const unsigned int tid = threadIdx.x;
    const unsigned int base = blockIdx.x * blockDim.x * 2;
    T *data = x + base;
    const unsigned int count = base < n ? n - base : 0;  // elements left from this block on

    if (tid + blockDim.x < count) data[tid] += data[tid + blockDim.x];
    __syncthreads();

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride && tid + stride < count) data[tid] += data[tid + stride];
        __syncthreads();
    }

    if (tid == 0) partial[blockIdx.x] = count > 0 ? data[0] : T(0);
}
