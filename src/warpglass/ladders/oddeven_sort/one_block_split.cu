// Odd-even sort in shared memory with elements of even and odd index apart: see one_block_split.py.

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
__global__ void one_block_split(T *x, unsigned int n)
{
    extern __shared__ __align__(16) unsigned char raw[];
    const unsigned int j = threadIdx.x, half = blockDim.x;
    const unsigned int k = 2 * j;
    const unsigned int first = blockIdx.x * 2 * half;
    const unsigned int count = min(2 * half, n - first);

    T *even = reinterpret_cast<T *>(raw);  // even[j] is element 2j
    T *odd = even + half + 16;             // odd[j] is element 2j + 1; 16 banks further than even[j]

    T *own = j % 2 ? odd : even;
    if (j < count) own[j / 2] = x[first + j];
    if (j + half < count) own[(j + half) / 2] = x[first + j + half];

    for (unsigned int phase = 0; phase < count; phase += 2) {
        __syncthreads();
        if (k + 1 < count) put_in_order(even[j], odd[j]);
        __syncthreads();
        if (k + 2 < count) put_in_order(odd[j], even[j + 1]);
    }

    __syncthreads();
    if (j < count) x[first + j] = own[j / 2];
    if (j + half < count) x[first + j + half] = own[(j + half) / 2];
}
