// Tiles of C that blocks compute whole or, split along k, in parts.
#pragma once
#include "tiles.cuh"

// What a block computes: the tile of C whose first element is own; it begins where it is whole, if the matrix is as
// large; and the steps along k that the block sums up.
struct Part {
    unsigned own_row, own_column, row, column, first, last;
};

// Tiles from `whole` on are split along k.
template <unsigned BM, unsigned BN>
__device__ Part part_of(unsigned index, unsigned m, unsigned n, unsigned steps, unsigned whole, unsigned splits)
{
    const unsigned beyond = index < whole ? 0 : index - whole, parts = index < whole ? 1 : splits, part = beyond % parts;
    const unsigned tile = index < whole ? index : whole + beyond / parts;
    const Place place = tile_at(tile, (m + BM - 1) / BM, (n + BN - 1) / BN);
    const unsigned row = place.row * BM, column = place.column * BN;
    const auto step = [=](unsigned i) { return static_cast<unsigned>(static_cast<unsigned long long>(steps) * i / parts); };
    return {row,        column, m < BM ? 0 : min(row, m - BM), n < BN ? 0 : min(column, n - BN),
            step(part), step(part + 1)};
}

// Whether an element of the block's tile is in C, and not also in the tile before.
__device__ bool is_own(const Part &part, unsigned row, unsigned column, unsigned m, unsigned n)
{
    return row >= part.own_row && row < m && column >= part.own_column && column < n;
}

// The tiles that were split, summed part by part, in the order of k.
template <typename T, unsigned BM, unsigned BN>
__global__ void sum_parts(const T *partial, T *c, unsigned m, unsigned n, unsigned whole, unsigned splits)
{
    const Part part = part_of<BM, BN>(whole + blockIdx.y, m, n, 0, ~0u, 1);
    const unsigned element = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = part.row + element / BN, column = part.column + element % BN;
    if (!is_own(part, row, column, m, n)) return;
    const T *const from = partial + static_cast<size_t>(blockIdx.y) * splits * BM * BN + element;
    T total = from[0];
    for (unsigned i = 1; i < splits; ++i) total += from[static_cast<size_t>(i) * BM * BN];
    c[static_cast<size_t>(row) * n + column] = total;
}
