// Registers instead of memory: see warp_shuffle.py.
template <typename T>
__device__ T sum_of_warp(T total) {
    for (int distance = 16; distance > 0; distance >>= 1) total += __shfl_down_sync(0xFFFFFFFF, total, distance);
    return total;  // in lane 0
}

template <typename T>
__global__ void warp_shuffle(const T* x, T* partial, unsigned int n) {
    __shared__ T sums[32];
    unsigned int tid = threadIdx.x;
    T total = 0;
    for (unsigned long long i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) total += x[i];
    total = sum_of_warp(total);
    if (tid % 32 == 0) sums[tid / 32] = total;
    __syncthreads();
    if (tid < 32) {
        total = sum_of_warp(tid < blockDim.x / 32 ? sums[tid] : T(0));
        if (tid == 0) partial[blockIdx.x] = total;
    }
}
