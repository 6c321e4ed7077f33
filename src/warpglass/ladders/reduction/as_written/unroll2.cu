// unroll2 as the course notes have it: right when n is a multiple of 2 blocks.
// What is wrong with it is said in unroll2.py.
template <typename T>
__global__ void unroll2(T *x, T *partial, unsigned int n)
{
    const unsigned int tid = threadIdx.x;
    const unsigned int idx = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    T *data = x + blockIdx.x * blockDim.x * 2;

    if (idx + blockDim.x < n) x[idx] += x[idx + blockDim.x];
    __syncthreads();

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride) data[tid] += data[tid + stride];
        __syncthreads();
    }

    if (tid == 0) partial[blockIdx.x] = data[0];
}
