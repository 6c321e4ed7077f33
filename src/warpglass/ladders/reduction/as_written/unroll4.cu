// unroll4 as the course notes have it: right when n is a multiple of 4 blocks.
// What is wrong with it is said in unroll4.py.
template <typename T>
__global__ void unroll4(T *x, T *partial, unsigned int n)
{
    const unsigned int tid = threadIdx.x;
    const unsigned int idx = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    T *data = x + blockIdx.x * blockDim.x * 4;

    if (idx + 3 * blockDim.x < n) {
        const T a0 = x[idx];
        const T a1 = x[idx + blockDim.x];
        const T a2 = x[idx + 2 * blockDim.x];
        const T a3 = x[idx + 3 * blockDim.x];
        x[idx] = a0 + a1 + a2 + a3;
    }
    __syncthreads();

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride) data[tid] += data[tid + stride];
        __syncthreads();
    }

    if (tid == 0) partial[blockIdx.x] = data[0];
}
