// What the products whose tiles arrive asynchronously share: the copies, and the order in which tiles are taken.
#pragma once

// Copy BYTES to shared memory, or as many zeros. Only copies of 16 bytes can leave the first-level cache out.
template <unsigned BYTES>
__device__ void copy_async(unsigned to, const void *from, bool inside)
{
    const unsigned taken = inside ? BYTES : 0;
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(taken) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(BYTES), "r"(taken)
                     : "memory");
}

// What a thread has copied since it closed the last group is one to wait for.
__device__ void close_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Wait until at most LEFT of the thread's groups are under way.
template <unsigned LEFT>
__device__ void wait_for_groups()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

__device__ unsigned shared_address(const void *at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }

// The element so many rows below, for rows of less than 4 GiB: one instruction.
template <typename T>
__device__ const T *below(const T *from, unsigned rows, unsigned row_bytes)
{
    return reinterpret_cast<const T *>(reinterpret_cast<const char *>(from) + static_cast<size_t>(rows) * row_bytes);
}

// A tile's place among the rows and columns of tiles.
struct Place {
    unsigned row, column;
};

// Eight rows of tiles at a time, column by column: blocks that run together share rows of A and columns of B, and
// find them in the second-level cache.
__device__ Place tile_at(unsigned index, unsigned rows, unsigned columns)
{
    const unsigned above = index / (8 * columns) * 8, high = min(8u, rows - above), within = index - above * columns;
    return {above + within % high, within / high};
}

// Two sums as they are stored: as floats, or as the nearest halves, whose bits an unsigned short holds.
template <typename C> struct Pair;
template <> struct Pair<float> {
    using Type = float2;
    static __device__ Type of(float first, float second) { return make_float2(first, second); }
};
template <> struct Pair<unsigned short> {
    using Type = ushort2;
    static __device__ Type of(float first, float second)
    {
        ushort2 pair;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(pair.x) : "f"(first));
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(pair.y) : "f"(second));
        return pair;
    }
};

// Elements (row, column) and (row, column + 1) of a matrix of m x n, if there are such.
template <typename C>
__device__ void store_pair(C *c, unsigned row, unsigned column, unsigned m, unsigned n, float first, float second)
{
    if (row >= m || column >= n) return;
    C *const to = c + static_cast<size_t>(row) * n + column;
    const typename Pair<C>::Type pair = Pair<C>::of(first, second);
    if (reinterpret_cast<size_t>(to) % sizeof(pair) == 0 && column + 1 < n) {
        *reinterpret_cast<typename Pair<C>::Type *>(to) = pair;
        return;
    }
    to[0] = pair.x;
    if (column + 1 < n) to[1] = pair.y;
}
