// Lanes add each other's registers: see warp_shuffle.py.
template <typename T>
__device__ T sum_of_warp(T value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    return value;
}

template <typename T>
__global__ void warp_shuffle(const T *x, const T *y, T *partial, unsigned int n)
{
    extern __shared__ __align__(16) unsigned char raw[];
    T *cache = reinterpret_cast<T *>(raw);
    T total = 0;
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        total += x[i] * y[i];
    total = sum_of_warp(total);
    if (threadIdx.x % 32 == 0) cache[threadIdx.x / 32] = total;
    __syncthreads();

    if (threadIdx.x < 32) {
        total = sum_of_warp(threadIdx.x < blockDim.x / 32 ? cache[threadIdx.x] : T(0));
        if (threadIdx.x == 0) partial[blockIdx.x] = total;
    }
}
