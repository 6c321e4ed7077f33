// Blelloch's scan of 2 * blockDim.x elements in shared memory: see blelloch.py.
template <typename T>
__global__ void blelloch(const T *x, T *y, T *totals, unsigned int n)
{
    extern __shared__ __align__(16) unsigned char raw[];
    T *s = reinterpret_cast<T *>(raw);
    const unsigned int t = threadIdx.x, half = blockDim.x;
    const unsigned int first = blockIdx.x * 2 * half + t, second = first + half;
    const T a = first < n ? x[first] : T(0);
    const T b = second < n ? x[second] : T(0);
    s[t] = a;
    s[t + half] = b;

    // Up: sums of 2, 4, 8, ... elements, each at the place of its last.
    unsigned int stride = 1;
    for (unsigned int pairs = half; pairs > 0; pairs /= 2) {
        __syncthreads();
        if (t < pairs) s[(2 * t + 2) * stride - 1] += s[(2 * t + 1) * stride - 1];
        stride *= 2;
    }
    __syncthreads();
    if (t == 0) {
        totals[blockIdx.x] = s[2 * half - 1];
        s[2 * half - 1] = T(0);
    }

    // Down: what is left of a pair goes to its first half; that and the first half's sum to its second.
    for (unsigned int pairs = 1; pairs <= half; pairs *= 2) {
        stride /= 2;
        __syncthreads();
        if (t < pairs) {
            const unsigned int left = (2 * t + 1) * stride - 1, right = left + stride;
            const T before = s[right];
            s[right] = before + s[left];
            s[left] = before;
        }
    }

    __syncthreads();
    if (first < n) y[first] = s[t] + a;
    if (second < n) y[second] = s[t + half] + b;
}
