// unroll_warps8 as the course notes have it: volatile instead of warp barriers.
// What is wrong with it is said in unroll_warps8.py.
template <typename T>
__global__ void unroll_warps8(T *x, T *partial, unsigned int n)
{
    const unsigned int tid = threadIdx.x;
    const unsigned int idx = blockIdx.x * blockDim.x * 8 + threadIdx.x;
    T *data = x + blockIdx.x * blockDim.x * 8;

    if (idx + 7 * blockDim.x < n) {
        const T a0 = x[idx];
        const T a1 = x[idx + blockDim.x];
        const T a2 = x[idx + 2 * blockDim.x];
        const T a3 = x[idx + 3 * blockDim.x];
        const T a4 = x[idx + 4 * blockDim.x];
        const T a5 = x[idx + 5 * blockDim.x];
        const T a6 = x[idx + 6 * blockDim.x];
        const T a7 = x[idx + 7 * blockDim.x];
        x[idx] = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7;
    }
    __syncthreads();

    for (unsigned int stride = blockDim.x / 2; stride > 32; stride >>= 1) {
        if (tid < stride) data[tid] += data[tid + stride];
        __syncthreads();
    }

    if (tid < 32) {
        volatile T *warp = data;
        warp[tid] += warp[tid + 32];
        warp[tid] += warp[tid + 16];
        warp[tid] += warp[tid + 8];
        warp[tid] += warp[tid + 4];
        warp[tid] += warp[tid + 2];
        warp[tid] += warp[tid + 1];
    }

    if (tid == 0) partial[blockIdx.x] = data[0];
}
