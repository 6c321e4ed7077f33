// A bitonic network over 2 * blockDim.x keys in shared memory: see bitonic_block.py.

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
__global__ void bitonic_block(T *x, unsigned int n)
{
    // One untyped buffer: `extern __shared__ T` would be declared twice if two types were compiled together.
    extern __shared__ __align__(16) unsigned char raw[];
    T *s = reinterpret_cast<T *>(raw);
    const unsigned int t = threadIdx.x, half = blockDim.x;
    const unsigned int first = blockIdx.x * 2 * half;
    const unsigned int count = min(2 * half, n - first);

    if (t < count) s[t] = x[first + t];
    if (t + half < count) s[t + half] = x[first + t + half];

    for (unsigned int sorted = 1; sorted <= half; sorted *= 2) {
        unsigned int mirror = 2 * sorted - 1;  // the first step compares with the mirror image
        for (unsigned int stride = sorted; stride > 0; stride /= 2) {
            __syncthreads();
            const unsigned int low = 2 * t - (t & (stride - 1)), high = low ^ mirror;
            if (high < count) put_in_order(s[low], s[high]);
            mirror = stride / 2;
        }
    }

    __syncthreads();
    if (t < count) x[first + t] = s[t];
    if (t + half < count) x[first + t + half] = s[t + half];
}
