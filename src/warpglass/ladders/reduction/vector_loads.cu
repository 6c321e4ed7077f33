// Sixteen bytes a load: see vector_loads.py.
template <typename T>
struct alignas(16) Pack {
    T values[16 / sizeof(T)];
};

template <typename T>
__device__ T sum_of_warp(T total) {
    for (int distance = 16; distance > 0; distance >>= 1) total += __shfl_down_sync(0xFFFFFFFF, total, distance);
    return total;  // in lane 0
}

template <typename T>
__global__ void vector_loads(const T* x, T* partial, unsigned int n) {
    constexpr unsigned int width = 16 / sizeof(T);
    __shared__ T sums[32];
    unsigned int tid = threadIdx.x, threads = gridDim.x * blockDim.x;
    unsigned int first = blockIdx.x * blockDim.x + tid, packs = n / width;
    T total = 0;
    for (unsigned int i = first; i < packs; i += threads) {
        Pack<T> pack = reinterpret_cast<const Pack<T>*>(x)[i];
        for (unsigned int k = 0; k < width; ++k) total += pack.values[k];
    }
    if (first < n % width) total += x[packs * width + first];
    total = sum_of_warp(total);
    if (tid % 32 == 0) sums[tid / 32] = total;
    __syncthreads();
    if (tid < 32) {
        total = sum_of_warp(tid < blockDim.x / 32 ? sums[tid] : T(0));
        if (tid == 0) partial[blockIdx.x] = total;
    }
}
