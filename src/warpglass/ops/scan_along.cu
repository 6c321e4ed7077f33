// Running sums along one axis: see scan_along.py. Blocks have 256 threads.
typedef unsigned long long Count;
enum : unsigned int { WARPS = 8 };

template <typename T>
__device__ T scan_warp(T value, unsigned int lane)
{
    for (unsigned int stride = 1; stride < 32; stride *= 2) {
        const T before = __shfl_up_sync(0xffffffffu, value, stride);
        if (lane >= stride) value = before + value;
    }
    return value;
}

// Running sums along rows: a block for each, 256 elements at a time.
template <typename T>
__global__ void scan_rows(const T *x, T *y, Count outer, Count n, Count inner)
{
    __shared__ T sums[WARPS];
    const unsigned int t = threadIdx.x, lane = t % 32, warp = t / 32;
    for (Count row = blockIdx.x; row < outer; row += gridDim.x) {
        T before = T(0);
        for (Count first = 0; first < n; first += blockDim.x) {
            const Count k = first + t;
            T value = scan_warp(k < n ? x[row * n + k] : T(0), lane);
            if (lane == 31) sums[warp] = value;
            __syncthreads();
            T others = T(0), all = T(0);
            for (unsigned int other = 0; other < WARPS; ++other) {
                if (other == warp) others = all;
                all += sums[other];
            }
            if (k < n) y[row * n + k] = before + (others + value);
            before += all;
            __syncthreads();
        }
    }
}

// The same down columns: a thread for each.
template <typename T>
__global__ void scan_columns(const T *x, T *y, Count outer, Count n, Count inner)
{
    const Count threads = static_cast<Count>(gridDim.x) * blockDim.x;
    for (Count job = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; job < outer * inner; job += threads) {
        const Count first = job / inner * n * inner + job % inner;
        T total = T(0);
        for (Count k = 0; k < n; ++k) y[first + k * inner] = total = total + x[first + k * inner];
    }
}
