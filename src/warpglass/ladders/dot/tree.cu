// A tree in shared memory: see tree.py.
template <typename T>
__global__ void tree(const T *x, const T *y, T *partial, unsigned int n)
{
    extern __shared__ __align__(16) unsigned char raw[];
    T *cache = reinterpret_cast<T *>(raw);
    T total = 0;
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        total += x[i] * y[i];
    cache[threadIdx.x] = total;
    __syncthreads();

    for (unsigned int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) cache[threadIdx.x] += cache[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = cache[0];
}
