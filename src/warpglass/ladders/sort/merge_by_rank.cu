// Merges pairs of sorted runs: every key finds its own place, see merge_by_rank.py.

// NumPy's order: NaN comes after every number.
template <typename T>
__device__ __forceinline__ bool comes_after(T a, T b)
{
    return !(a <= b) && b == b;
}

template <typename T>
__global__ void merge_by_rank(const T *x, T *y, unsigned int n, unsigned int length)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const T key = x[i];
    const unsigned int first = i & ~(2 * length - 1);  // of the pair of runs
    const unsigned int middle = min(first + length, n), end = min(first + 2 * length, n);
    const bool left = i < middle;

    // How many keys of the other run come before this one; equal keys of the left run come first.
    unsigned int low = left ? middle : first, high = left ? end : middle;
    while (low < high) {
        const unsigned int probe = (low + high) / 2;
        if (left ? comes_after(key, x[probe]) : !comes_after(x[probe], key))
            low = probe + 1;
        else
            high = probe;
    }
    y[i + low - middle] = key;
}
