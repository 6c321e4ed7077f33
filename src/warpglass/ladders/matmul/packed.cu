// A matrix in the order in which tensor cores take it: see tf32_tensor_cores.py.
// Units of 64 rows by 128 bytes along k lie one behind the other, along k first. In each row of a unit the eight
// chunks of 16 bytes are turned (chunk ^ row % 8), so that eight rows' chunks lie in different banks.
#include "packed.cuh"

template <typename T>
union Chunk {
    static constexpr unsigned SIZE = 16 / sizeof(T);
    T of[SIZE];
    uint4 all;
};

// TF32 has 10 bits behind the first; tensor cores would cut the others off instead of rounding.
__device__ float rounded(float value)
{
    float nearest;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(reinterpret_cast<unsigned &>(nearest)) : "f"(value));
    return nearest;
}
__device__ unsigned short rounded(unsigned short value) { return value; }

// Elements from `column` on of a row, zeros where there are none; WIDE: rows begin at multiples of 16 bytes.
template <bool WIDE, typename T>
__device__ Chunk<T> load(const T *matrix, unsigned row, unsigned column, unsigned rows, unsigned columns)
{
    Chunk<T> found = {};
    if (row >= rows || column >= columns) return found;
    const T *const from = matrix + static_cast<size_t>(row) * columns + column;
    if constexpr (WIDE) found.all = *reinterpret_cast<const uint4 *>(from);
#pragma unroll
    for (unsigned i = 0; i < Chunk<T>::SIZE; ++i)
        if (WIDE || column + i < columns) found.of[i] = rounded(WIDE ? found.of[i] : from[i]);
    return found;
}

// A unit of a matrix of rows x k elements, or of k x rows (TURN), with zeros where it goes beyond.
template <bool TURN, bool WIDE, typename T>
__device__ void pack(const T *from, uint4 *to, unsigned top, unsigned start, unsigned rows, unsigned k)
{
    constexpr unsigned CHUNK = Chunk<T>::SIZE, ALONG = 8 * CHUNK, ACROSS = UNIT_ROWS / CHUNK;
    __shared__ Chunk<T> tile[TURN ? ALONG : 1][ACROSS];
    if constexpr (TURN) {
        // Chunks change places as in the result, so that those of a column are not in one bank.
#pragma unroll
        for (unsigned i = threadIdx.x; i < ALONG * ACROSS; i += 256) {
            const unsigned down = i / ACROSS, across = i % ACROSS;
            tile[down][across ^ down / CHUNK] = load<WIDE>(from, start + down, top + across * CHUNK, k, rows);
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned i = threadIdx.x; i < UNIT_BYTES / 16; i += 256) {
        const unsigned row = i / 8, chunk = i % 8 ^ row % 8;
        Chunk<T> made;
        if constexpr (TURN)
#pragma unroll
            for (unsigned j = 0; j < CHUNK; ++j)
                made.of[j] = tile[chunk * CHUNK + j][row / CHUNK ^ chunk].of[row % CHUNK];
        else
            made = load<WIDE>(from, top + row, start + chunk * CHUNK, rows, k);
        to[i] = made.all;
    }
}

// A block a unit: first those of A (m x k), then those of B (k x n), which is turned.
template <typename T>
__global__ void __launch_bounds__(256) packed(const T *a, const T *b, uint4 *a_packed, uint4 *b_packed, unsigned m,
                                              unsigned n, unsigned k, unsigned steps, unsigned units_of_a)
{
    constexpr unsigned ALONG = 8 * Chunk<T>::SIZE, SIZE = UNIT_BYTES / 16;
    const bool of_a = blockIdx.x < units_of_a;
    const unsigned unit = of_a ? blockIdx.x : blockIdx.x - units_of_a;
    const unsigned top = unit / steps * UNIT_ROWS, start = unit % steps * ALONG;
    uint4 *const to = (of_a ? a_packed : b_packed) + static_cast<size_t>(unit) * SIZE;
    const size_t at = reinterpret_cast<size_t>(of_a ? a : b), row_bytes = (of_a ? k : n) * sizeof(T);
    const bool wide = (at | row_bytes) % 16 == 0;
    if (of_a)
        wide ? pack<false, true>(a, to, top, start, m, k) : pack<false, false>(a, to, top, start, m, k);
    else
        wide ? pack<true, true>(b, to, top, start, n, k) : pack<true, false>(b, to, top, start, n, k);
}
