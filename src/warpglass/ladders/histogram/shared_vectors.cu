// Counting in shared memory with 16 bytes of keys for each load: see shared_vectors.py.
template <typename T>
struct alignas(16) Keys {
    static constexpr unsigned int COUNT = 16 / sizeof(T);
    T key[COUNT];
};

__device__ __forceinline__ void count(unsigned int *own, unsigned int bin, unsigned int bins)
{
    if (bin < bins) atomicAdd(&own[bin], 1);  // a negative key has become a large one
}

template <typename T>
__global__ void shared_vectors(const T *x, unsigned int *counts, unsigned int n, unsigned int bins)
{
    extern __shared__ unsigned int own[];
    for (unsigned int b = threadIdx.x; b < bins; b += blockDim.x) own[b] = 0;
    __syncthreads();

    const unsigned int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const Keys<T> *vectors = reinterpret_cast<const Keys<T> *>(x);
    const unsigned int whole = n / Keys<T>::COUNT;
    for (unsigned int i = thread; i < whole; i += threads) {
        const Keys<T> keys = vectors[i];
        for (unsigned int k = 0; k < Keys<T>::COUNT; ++k) count(own, keys.key[k], bins);
    }
    for (unsigned int i = whole * Keys<T>::COUNT + thread; i < n; i += threads) count(own, x[i], bins);
    __syncthreads();

    for (unsigned int b = threadIdx.x; b < bins; b += blockDim.x)
        if (own[b]) atomicAdd(&counts[b], own[b]);
}
