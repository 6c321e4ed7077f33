// Sums and running sums along one axis: see along_axis.py. Blocks have 256 threads.
typedef unsigned long long Count;
enum : unsigned int { WARPS = 8 };

template <typename T>
__device__ T sum_of_warp(T value)
{
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;  // in lane 0
}

template <typename T>
__device__ T scan_warp(T value, unsigned int lane)
{
    for (unsigned int stride = 1; stride < 32; stride *= 2) {
        const T before = __shfl_up_sync(0xffffffffu, value, stride);
        if (lane >= stride) value = before + value;
    }
    return value;
}

// Sums of pieces of `span` elements of each row: a block for each.
template <typename T>
__global__ void add_rows(const T *x, T *y, Count outer, Count n, Count inner, Count pieces, Count span)
{
    __shared__ T sums[WARPS];
    const unsigned int t = threadIdx.x;
    for (Count job = blockIdx.x; job < outer * pieces; job += gridDim.x) {
        const T *row = x + job / pieces * n;
        const Count first = job % pieces * span, end = min(first + span, n);
        T total = T(0);
        for (Count k = first + t; k < end; k += blockDim.x) total += row[k];
        total = sum_of_warp(total);
        if (t % 32 == 0) sums[t / 32] = total;
        __syncthreads();
        if (t < 32) {
            total = sum_of_warp(t < WARPS ? sums[t] : T(0));
            if (t == 0) y[job] = total;
        }
        __syncthreads();
    }
}

// The same down columns: a block for 32 of them, of which every warp takes each eighth element.
template <typename T>
__global__ void add_columns(const T *x, T *y, Count outer, Count n, Count inner, Count pieces, Count span)
{
    __shared__ T sums[WARPS][32];
    const unsigned int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const Count groups = (inner + 31) / 32;
    for (Count job = blockIdx.x; job < outer * pieces * groups; job += gridDim.x) {
        const Count column = job % groups * 32 + lane, piece = job / groups % pieces, o = job / groups / pieces;
        const Count first = piece * span, end = min(first + span, n);
        T total = T(0);
        if (column < inner)
            for (Count k = first + warp; k < end; k += WARPS) total += x[(o * n + k) * inner + column];
        sums[warp][lane] = total;
        __syncthreads();
        if (warp == 0 && column < inner) {
            for (unsigned int other = 1; other < WARPS; ++other) total += sums[other][lane];
            y[(o * pieces + piece) * inner + column] = total;
        }
        __syncthreads();
    }
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
