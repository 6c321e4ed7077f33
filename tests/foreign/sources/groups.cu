// Cooperative groups: tiles, coalesced and labelled groups, reductions, scans, copies, grids.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

template <typename T, int LANES> __global__ void tiles(T *x)
{
    auto tile = cg::tiled_partition<LANES>(cg::this_thread_block());
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    T mine = x[i];
    mine += cg::reduce(tile, mine, cg::plus<T>());
    mine += cg::reduce(tile, mine, cg::greater<T>());
    mine += cg::inclusive_scan(tile, mine, cg::plus<T>());
    mine += cg::exclusive_scan(tile, mine, cg::less<T>());
    mine += tile.shfl_down(mine, 1) + tile.shfl_xor(mine, LANES / 2);
    if (tile.any(mine > T(3))) mine -= T(tile.meta_group_rank());
    x[i] = mine;
}

template <typename T> __global__ void coalesced(T *x, int *counts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] > T(0)) {
        auto active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(counts, int(active.size()));
        x[i] += cg::reduce(active, x[i], cg::plus<T>());
        auto labelled = cg::labeled_partition(active, int(i % 3));
        x[i] += cg::reduce(labelled, x[i], cg::less<T>());
        auto two = cg::binary_partition(active, bool(i & 4));
        x[i] += T(two.size());
    }
}

template <typename T> __global__ void copied(const T *x, T *y)
{
    extern __shared__ __align__(16) unsigned char bytes[];
    T *tile = reinterpret_cast<T *>(bytes);
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, x + blockIdx.x * blockDim.x, sizeof(T) * blockDim.x);
    cg::wait(block);
    y[blockIdx.x * blockDim.x + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

template <typename T> __global__ void grids(T *x, int rounds)
{
    auto grid = cg::this_grid();
    for (int round = 0; round < rounds; ++round) {
        const T next = x[(grid.thread_rank() + 1) % grid.size()];
        grid.sync();
        x[grid.thread_rank()] = next;
        grid.sync();
    }
}

template <typename T> __global__ void whole_block(T *x)
{
    __shared__ cg::block_tile_memory<256> memory;
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<64>(block);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += cg::reduce(tile, x[i], cg::plus<T>());
    tile.sync();
    x[i] += cg::inclusive_scan(tile, x[i]);
}

#define EACH(T)                                                                                                        \
    template __global__ void tiles<T, 4>(T *);                                                                         \
    template __global__ void tiles<T, 16>(T *);                                                                        \
    template __global__ void tiles<T, 32>(T *);                                                                        \
    template __global__ void coalesced<T>(T *, int *);                                                                 \
    template __global__ void copied<T>(const T *, T *);                                                                \
    template __global__ void grids<T>(T *, int);                                                                       \
    template __global__ void whole_block<T>(T *);
EACH(int)
EACH(unsigned)
EACH(long long)
EACH(float)
EACH(double)
