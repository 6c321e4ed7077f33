// CUB's primitives of a block and of a warp, in kernels of their own.
#include <cub/cub.cuh>
#include <cuda_fp16.h>

struct Differ {
    template <typename T> __device__ bool operator()(const T &a, const T &b) const { return !(a == b); }
};

struct Before {
    template <typename T> __device__ bool operator()(const T &a, const T &b) const { return a < b; }
};

template <typename T, int THREADS, int ITEMS> __global__ void block_sort(T *keys, int *values)
{
    using Sort = cub::BlockRadixSort<T, THREADS, ITEMS, int>;
    __shared__ typename Sort::TempStorage storage;
    T mine[ITEMS];
    int told[ITEMS];
    const int at = (blockIdx.x * THREADS + threadIdx.x) * ITEMS;
    for (int k = 0; k < ITEMS; ++k) mine[k] = keys[at + k], told[k] = values[at + k];
    Sort(storage).Sort(mine, told);
    for (int k = 0; k < ITEMS; ++k) keys[at + k] = mine[k], values[at + k] = told[k];
}

template <typename T, int THREADS, cub::BlockScanAlgorithm HOW> __global__ void block_scan(T *x)
{
    using Scan = cub::BlockScan<T, THREADS, HOW>;
    __shared__ typename Scan::TempStorage storage;
    T mine[4], sum;
    cub::LoadDirectBlocked(threadIdx.x, x + blockIdx.x * THREADS * 4, mine);
    Scan(storage).InclusiveSum(mine, mine, sum);
    mine[0] += sum;
    cub::StoreDirectBlocked(threadIdx.x, x + blockIdx.x * THREADS * 4, mine);
}

template <typename T, int THREADS, cub::BlockReduceAlgorithm HOW> __global__ void block_reduce(const T *x, T *sums)
{
    using Reduce = cub::BlockReduce<T, THREADS, HOW>;
    __shared__ typename Reduce::TempStorage storage;
    const T sum = Reduce(storage).Sum(x[blockIdx.x * THREADS + threadIdx.x]);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <typename T, int THREADS> __global__ void block_exchange(T *x)
{
    using Exchange = cub::BlockExchange<T, THREADS, 4>;
    using Load = cub::BlockLoad<T, THREADS, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    __shared__ union { typename Exchange::TempStorage exchange; typename Load::TempStorage load; } storage;
    T mine[4];
    Load(storage.load).Load(x + blockIdx.x * THREADS * 4, mine);
    __syncthreads();
    Exchange(storage.exchange).BlockedToStriped(mine, mine);
    cub::StoreDirectStriped<THREADS>(threadIdx.x, x + blockIdx.x * THREADS * 4, mine);
}

template <typename T, int THREADS> __global__ void block_differences(T *x, int *flags)
{
    using Flags = cub::BlockDiscontinuity<T, THREADS>;
    using Histogram = cub::BlockHistogram<unsigned char, THREADS, 2, 64, cub::BLOCK_HISTO_SORT>;
    __shared__ typename Flags::TempStorage storage;
    __shared__ typename Histogram::TempStorage more;
    __shared__ unsigned counts[64];
    T mine[2];
    int heads[2];
    cub::LoadDirectBlocked(threadIdx.x, x + blockIdx.x * THREADS * 2, mine);
    Flags(storage).FlagHeads(heads, mine, Differ());
    unsigned char small[2] = {(unsigned char)(heads[0] + threadIdx.x % 60), (unsigned char)heads[1]};
    Histogram(more).Histogram(small, counts);
    __syncthreads();
    flags[blockIdx.x * THREADS + threadIdx.x] = heads[0] + heads[1] + counts[threadIdx.x % 64];
}

template <typename T, int LANES> __global__ void warp_work(T *x)
{
    using Scan = cub::WarpScan<T, LANES>;
    using Reduce = cub::WarpReduce<T, LANES>;
    using Sort = cub::WarpMergeSort<T, 2, LANES>;
    __shared__ union {
        typename Scan::TempStorage scan;
        typename Reduce::TempStorage reduce;
        typename Sort::TempStorage sort;
    } storage[256 / LANES];
    const int warp = threadIdx.x / LANES, i = blockIdx.x * blockDim.x + threadIdx.x;
    T mine[2] = {x[2 * i], x[2 * i + 1]}, sum;
    Scan(storage[warp].scan).InclusiveSum(mine[0], mine[0]);
    __syncwarp();
    sum = Reduce(storage[warp].reduce).Sum(mine[1]);
    __syncwarp();
    mine[1] += sum;
    Sort(storage[warp].sort).Sort(mine, Before());
    x[2 * i] = mine[0], x[2 * i + 1] = mine[1];
}

#define EACH(T)                                                                                                        \
    template __global__ void block_sort<T, 128, 4>(T *, int *);                                                        \
    template __global__ void block_sort<T, 64, 9>(T *, int *);                                                         \
    template __global__ void block_scan<T, 128, cub::BLOCK_SCAN_RAKING>(T *);                                          \
    template __global__ void block_scan<T, 96, cub::BLOCK_SCAN_WARP_SCANS>(T *);                                       \
    template __global__ void block_reduce<T, 128, cub::BLOCK_REDUCE_RAKING>(const T *, T *);                           \
    template __global__ void block_reduce<T, 96, cub::BLOCK_REDUCE_WARP_REDUCTIONS>(const T *, T *);                   \
    template __global__ void block_exchange<T, 128>(T *);                                                              \
    template __global__ void block_differences<T, 128>(T *, int *);                                                    \
    template __global__ void warp_work<T, 32>(T *);                                                                    \
    template __global__ void warp_work<T, 8>(T *);
EACH(int)
EACH(unsigned char)
EACH(long long)
EACH(float)
EACH(double)
