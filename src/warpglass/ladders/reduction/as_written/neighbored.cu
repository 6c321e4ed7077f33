// neighbored as the course notes have it: right when n is a multiple of the block size.
// What is wrong with it is said in neighbored.py.
template <typename T>
__global__ void neighbored(T *x, T *partial, unsigned int n)
{
    const unsigned int tid = threadIdx.x;
    const unsigned int idx = blockIdx.x * blockDim.x + threadIdx.x;
    T *data = x + blockIdx.x * blockDim.x;
    if (idx >= n) return;

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0) data[tid] += data[tid + stride];
        __syncthreads();
    }

    if (tid == 0) partial[blockIdx.x] = data[0];
}
