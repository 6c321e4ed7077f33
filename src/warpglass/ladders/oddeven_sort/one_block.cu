// Odd-even transposition sort of 2 * blockDim.x elements in shared memory: see one_block.py.

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
__global__ void one_block(T *x, unsigned int n)
{
    // One untyped buffer: `extern __shared__ T` would be declared twice if two types were compiled together.
    extern __shared__ __align__(16) unsigned char raw[];
    T *s = reinterpret_cast<T *>(raw);
    const unsigned int j = threadIdx.x, half = blockDim.x;
    const unsigned int k = 2 * j;
    const unsigned int first = blockIdx.x * 2 * half;
    const unsigned int count = min(2 * half, n - first);

    if (j < count) s[j] = x[first + j];
    if (j + half < count) s[j + half] = x[first + j + half];

    for (unsigned int phase = 0; phase < count; phase += 2) {
        __syncthreads();
        if (k + 1 < count) put_in_order(s[k], s[k + 1]);
        __syncthreads();
        if (k + 2 < count) put_in_order(s[k + 1], s[k + 2]);
    }

    __syncthreads();
    if (j < count) x[first + j] = s[j];
    if (j + half < count) x[first + j + half] = s[j + half];
}
