// From numbers to bins: see histogram.py.
typedef unsigned long long Count;

// The smallest and the largest of some elements, for a block each; NaN if there is one. y: pairs of both.
template <typename T>
__global__ void limits(const T *x, T *y, Count n, unsigned int paired)
{
    __shared__ T lowest[256], highest[256];
    const unsigned int t = threadIdx.x;
    T low = x[0], high = x[paired];
    for (Count i = static_cast<Count>(blockIdx.x) * blockDim.x + t; i < n;
         i += static_cast<Count>(gridDim.x) * blockDim.x) {
        const T below = x[paired ? 2 * i : i], above = x[paired ? 2 * i + 1 : i];
        if (!(low <= below) && low == low) low = below;
        if (!(high >= above) && high == high) high = above;
    }
    lowest[t] = low;
    highest[t] = high;
    __syncthreads();
    for (unsigned int stride = 128; stride > 0; stride /= 2) {
        if (t < stride) {
            const T below = lowest[t + stride], above = highest[t + stride];
            if (!(lowest[t] <= below) && lowest[t] == lowest[t]) lowest[t] = below;
            if (!(highest[t] >= above) && highest[t] == highest[t]) highest[t] = above;
        }
        __syncthreads();
    }
    if (t == 0) {
        y[2 * blockIdx.x] = lowest[0];
        y[2 * blockIdx.x + 1] = highest[0];
    }
}

__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ float plus(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ double plus(double a, double b) { return __dadd_rn(a, b); }

__global__ void set_range(double *range, double first, double last)
{
    range[0] = first;
    range[1] = last;
}

// Edges of equal bins, each as np.linspace rounds it; of elements that are all equal, one bin width around them.
template <typename T, typename Edge>
__global__ void edges_between(const T *range, Edge *edges, Count bins)
{
    T first = range[0], last = range[1];
    if (first == last) {
        first = plus(first, T(-0.5));
        last = plus(last, T(0.5));
    }
    const T width = plus(last, -first), step = width / static_cast<T>(bins);
    for (Count i = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; i <= bins;
         i += static_cast<Count>(gridDim.x) * blockDim.x) {
        const T at = static_cast<T>(i);
        const T far = step != T(0) ? times(at, step) : times(at / static_cast<T>(bins), width);
        edges[i] = static_cast<Edge>(i == bins ? last : plus(far, first));
    }
}

// The bin of every element, `bins` for those in none; the last bin has both its edges.
template <typename T, typename Edge>
__global__ void find_bins(const T *x, const Edge *edges, unsigned int *keys, Count n, unsigned int bins,
                          unsigned int equal)
{
    const Edge first = edges[0], last = edges[bins];
    const Edge width = plus(last, -first), scale = static_cast<Edge>(bins) / width;
    const bool finite = !equal || width - width == Edge(0);
    for (Count i = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
         i += static_cast<Count>(gridDim.x) * blockDim.x) {
        const Edge value = static_cast<Edge>(x[i]);
        unsigned int bin = bins;
        if (finite && value >= first && value <= last) {
            if (equal) {
                const Edge guess = times(plus(value, -first), scale);
                bin = guess < static_cast<Edge>(bins) ? static_cast<unsigned int>(guess) : bins - 1;
                while (bin > 0 && value < edges[bin]) --bin;
                while (bin + 1 < bins && value >= edges[bin + 1]) ++bin;
            } else {
                unsigned int low = 0, high = bins;  // edges[low] <= value < edges[high], or the last bin
                while (high - low > 1) {
                    const unsigned int middle = low + (high - low) / 2;
                    if (value >= edges[middle]) low = middle; else high = middle;
                }
                bin = low;
            }
        }
        keys[i] = bin;
    }
}
