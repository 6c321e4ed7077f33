// Every thread compares its element with the next one, all at the same time: wrong, see all_at_once.py.

// NumPy's order: NaN comes after every number.
template <typename T>
__device__ __forceinline__ void put_in_order(T &a, T &b)
{
    if (!(a <= b) && b == b) {
        const T larger = a;
        a = b;
        b = larger;
    }
}

template <typename T>
__global__ void all_at_once(T *x, unsigned int n)
{
    extern __shared__ __align__(16) unsigned char raw[];
    T *s = reinterpret_cast<T *>(raw);
    const unsigned int half = blockDim.x;
    for (unsigned int k = threadIdx.x; k < n; k += half) s[k] = x[k];
    for (unsigned int round = 0; round < n; ++round) {
        __syncthreads();
        for (unsigned int k = threadIdx.x; k + 1 < n; k += half) put_in_order(s[k], s[k + 1]);
    }
    __syncthreads();
    for (unsigned int k = threadIdx.x; k < n; k += half) x[k] = s[k];
}
