// Thread 0 adds what the block's threads have summed: see one_thread_sums.py.
template <typename T>
__global__ void one_thread_sums(const T *x, const T *y, T *partial, unsigned int n)
{
    extern __shared__ __align__(16) unsigned char raw[];
    T *cache = reinterpret_cast<T *>(raw);
    T total = 0;
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        total += x[i] * y[i];
    cache[threadIdx.x] = total;
    __syncthreads();

    if (threadIdx.x == 0) {
        for (unsigned int k = 1; k < blockDim.x; ++k) total += cache[k];
        partial[blockIdx.x] = total;
    }
}
