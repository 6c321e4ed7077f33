// Merges pairs of sorted runs, a tile of the result in each block: see merge_path.py.

// NumPy's order: NaN comes after every number.
template <typename T>
__device__ __forceinline__ bool comes_after(T a, T b)
{
    return !(a <= b) && b == b;
}

// How many of the first `diagonal` keys of the merged run come from a; equal keys of a come first.
template <typename T>
__device__ __forceinline__ unsigned int split(const T *a, unsigned int a_count, const T *b,
                                              unsigned int b_count, unsigned int diagonal)
{
    unsigned int low = diagonal > b_count ? diagonal - b_count : 0, high = min(diagonal, a_count);
    while (low < high) {
        const unsigned int probe = (low + high) / 2;
        if (comes_after(a[probe], b[diagonal - 1 - probe]))
            high = probe;
        else
            low = probe + 1;
    }
    return low;
}

template <typename T>
__global__ void merge_path(const T *x, T *y, unsigned int n, unsigned int length)
{
    extern __shared__ __align__(16) unsigned char raw[];
    T *s = reinterpret_cast<T *>(raw);
    __shared__ unsigned int from_a[2];  // keys of a before the tile, and before its end
    const unsigned int t = threadIdx.x, half = blockDim.x;
    const unsigned int tile = blockIdx.x * 2 * half;
    const unsigned int first = tile & ~(2 * length - 1);  // of the pair of runs
    const unsigned int middle = min(first + length, n), end = min(first + 2 * length, n);
    const unsigned int begin = tile - first, stop = min(begin + 2 * half, end - first);
    const unsigned int count = stop - begin;

    if (t < 2) from_a[t] = split(x + first, middle - first, x + middle, end - middle, t ? stop : begin);
    __syncthreads();
    const unsigned int a_count = from_a[1] - from_a[0], b_count = count - a_count;
    const T *a = x + first + from_a[0], *b = x + middle + (begin - from_a[0]);
    for (unsigned int k = t; k < count; k += half) s[k] = k < a_count ? a[k] : b[k - a_count];
    __syncthreads();

    // Two keys of the result for every thread.
    T merged[2];
    unsigned int i = split(s, a_count, s + a_count, b_count, min(2 * t, count));
    unsigned int j = min(2 * t, count) - i;
    for (unsigned int k = 0; k < 2; ++k)
        if (2 * t + k < count) {
            const bool from_b = i == a_count || (j < b_count && comes_after(s[i], s[a_count + j]));
            merged[k] = from_b ? s[a_count + j++] : s[i++];
        }
    __syncthreads();
    for (unsigned int k = 0; k < 2; ++k)
        if (2 * t + k < count) s[2 * t + k] = merged[k];
    __syncthreads();
    for (unsigned int k = t; k < count; k += half) y[tile + k] = s[k];
}
