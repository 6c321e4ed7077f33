// A scan in registers: lanes exchange sums by shuffles, warps by shared memory: see warp_shuffle.py.

// The inclusive scan of a warp's values.
template <typename T>
__device__ __forceinline__ T scan_warp(T value, unsigned int lane)
{
    for (unsigned int stride = 1; stride < 32; stride *= 2) {
        const T before = __shfl_up_sync(0xffffffffu, value, stride);
        if (lane >= stride) value = before + value;
    }
    return value;
}

template <typename T>
__global__ void warp_shuffle(const T *x, T *y, T *totals, unsigned int n)
{
    __shared__ T sums[32];  // of the warps
    const unsigned int t = threadIdx.x, lane = t % 32, warp = t / 32, warps = blockDim.x / 32;
    const unsigned int i = blockIdx.x * blockDim.x + t;

    T value = scan_warp(i < n ? x[i] : T(0), lane);
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    if (warp == 0) {
        const T sum = scan_warp(lane < warps ? sums[lane] : T(0), lane);
        __syncwarp();
        if (lane < warps) sums[lane] = sum;
    }
    __syncthreads();
    if (warp > 0) value = sums[warp - 1] + value;

    if (i < n) y[i] = value;
    if (t == blockDim.x - 1) totals[blockIdx.x] = value;
}
