// Blelloch's scan with a gap after every 32 elements of shared memory: see blelloch_padded.py.

// Where element i lies: one word is skipped after each row of banks.
__device__ __forceinline__ unsigned int padded(unsigned int i) { return i + i / 32; }

template <typename T>
__global__ void blelloch_padded(const T *x, T *y, T *totals, unsigned int n)
{
    extern __shared__ __align__(16) unsigned char raw[];
    T *s = reinterpret_cast<T *>(raw);
    const unsigned int t = threadIdx.x, half = blockDim.x;
    const unsigned int first = blockIdx.x * 2 * half + t, second = first + half;
    const T a = first < n ? x[first] : T(0);
    const T b = second < n ? x[second] : T(0);
    s[padded(t)] = a;
    s[padded(t + half)] = b;

    unsigned int stride = 1;
    for (unsigned int pairs = half; pairs > 0; pairs /= 2) {
        __syncthreads();
        if (t < pairs) s[padded((2 * t + 2) * stride - 1)] += s[padded((2 * t + 1) * stride - 1)];
        stride *= 2;
    }
    __syncthreads();
    if (t == 0) {
        totals[blockIdx.x] = s[padded(2 * half - 1)];
        s[padded(2 * half - 1)] = T(0);
    }

    for (unsigned int pairs = 1; pairs <= half; pairs *= 2) {
        stride /= 2;
        __syncthreads();
        if (t < pairs) {
            const unsigned int left = padded((2 * t + 1) * stride - 1);
            const unsigned int right = padded((2 * t + 2) * stride - 1);
            const T before = s[right];
            s[right] = before + s[left];
            s[left] = before;
        }
    }

    __syncthreads();
    if (first < n) y[first] = s[padded(t)] + a;
    if (second < n) y[second] = s[padded(t + half)] + b;
}
