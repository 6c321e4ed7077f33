// Tiles that arrive while others are multiplied: see pipelined.py.
#include "parts.cuh"

template <typename T>
struct alignas(16) Pack {
    static constexpr unsigned SIZE = 16 / sizeof(T);
    T of[SIZE];
};

template <typename T, unsigned BM, unsigned BN, unsigned BK, unsigned WM, unsigned WN, unsigned STAGES, unsigned RESIDENT>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * 32, RESIDENT)
    pipelined(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ c, T *__restrict__ partial, unsigned m,
              unsigned n, unsigned k, unsigned whole, unsigned splits)
{
    if (m == 0 || n == 0) return;
    constexpr unsigned THREADS = BM / WM * (BN / WN) * 32, P = Pack<T>::SIZE, TM = WM / 4, TN = WN / 8;
    static_assert(THREADS % BN == 0 && BM * 8 % THREADS == 0 && BK % 8 == 0, "threads that share a column or row");
    __shared__ alignas(16) T a_tiles[STAGES][BK][BM + P], b_tiles[STAGES][BK][BN];
    const unsigned steps = (k + BK - 1) / BK, thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const Part part = part_of<BM, BN>(blockIdx.x, m, n, steps, whole, splits);

    // Step s begins at element k - (steps - s) BK of a sum: what the first one lacks comes before element 0.
    const unsigned of_a = thread % 8, a_row = thread / 8, of_b = thread / BN, b_column = thread % BN;
    const auto copy = [&](unsigned step, unsigned stage, bool checked) {
        const long long start = static_cast<long long>(k) - static_cast<long long>(steps - step) * BK;
        const T *const a_from = a + start + of_a;
        const T *const b_from = b + (start + of_b) * n + min(part.column + b_column, n - 1);
        const unsigned a_row_bytes = k * sizeof(T), b_row_bytes = n * sizeof(T);
#pragma unroll
        for (unsigned i = 0; i < BM * BK; i += THREADS) {
            const unsigned along = i / THREADS % (BK / 8) * 8, down = a_row + i / THREADS / (BK / 8) * (THREADS / 8);
            const bool inside = !checked || start + of_a + along >= 0;
            const T *const from = below(a_from + along, min(part.row + down, m - 1), a_row_bytes);
            copy_async<sizeof(T)>(shared_address(&a_tiles[stage][of_a + along][down]), inside ? from : a, inside);
        }
#pragma unroll
        for (unsigned i = 0; i < BK * BN; i += THREADS) {
            const bool inside = !checked || start + of_b + i / BN >= 0;
            const T *const from = below(b_from, i / BN, b_row_bytes);
            copy_async<sizeof(T)>(shared_address(&b_tiles[stage][of_b + i / BN][b_column]), inside ? from : b, inside);
        }
    };

    // A lane's rows and columns: neighbours have one of both in common, which lets their loads share a wavefront.
    const unsigned lane_row = lane / 2 % 2 + lane / 16 * 2, lane_column = lane % 2 + lane / 4 % 4 * 2;
    const unsigned warp_row = warp / (BN / WN) * WM + lane_row * P, warp_column = warp % (BN / WN) * WN + lane_column * P;
    T totals[TM][TN] = {};
    Pack<T> of_rows[2][TM / P], of_columns[2][TN / P];
    const auto take = [&](unsigned stage, unsigned at, unsigned into) {
#pragma unroll
        for (unsigned i = 0; i < TM / P; ++i)
            of_rows[into][i] = *reinterpret_cast<const Pack<T> *>(&a_tiles[stage][at][warp_row + i * 4 * P]);
#pragma unroll
        for (unsigned i = 0; i < TN / P; ++i)
            of_columns[into][i] = *reinterpret_cast<const Pack<T> *>(&b_tiles[stage][at][warp_column + i * 8 * P]);
    };

#pragma unroll
    for (unsigned stage = 0; stage < STAGES - 1; ++stage) {
        if (part.first + stage < part.last) copy(part.first + stage, stage, true);
        close_group();
    }
    wait_for_groups<STAGES - 2>();
    __syncthreads();
    unsigned reading = 0, writing = STAGES - 1;
    if (part.first < part.last) take(0, 0, 0);
    for (unsigned step = part.first; step < part.last; ++step) {
#pragma unroll
        for (unsigned at = 0; at < BK; ++at) {
            if (at == BK - 1) {
                wait_for_groups<STAGES - 2>();
                __syncthreads();
                reading = reading == STAGES - 1 ? 0 : reading + 1;
            }
            take(reading, (at + 1) % BK, (at + 1) % 2);
            if (at == 0) {
                if (step + STAGES - 1 < part.last) copy(step + STAGES - 1, writing, false);
                close_group();
                writing = writing == STAGES - 1 ? 0 : writing + 1;
            }
            // Down one column and up the next: each product has a factor in common with the one before.
#pragma unroll
            for (unsigned j = 0; j < TN; ++j)
#pragma unroll
                for (unsigned step_down = 0; step_down < TM; ++step_down) {
                    const unsigned i = j % 2 ? TM - 1 - step_down : step_down;
                    totals[i][j] += of_rows[at % 2][i / P].of[i % P] * of_columns[at % 2][j / P].of[j % P];
                }
        }
    }

    T *const slot = partial + static_cast<size_t>(blockIdx.x - whole) * BM * BN;
#pragma unroll
    for (unsigned i = 0; i < TM; ++i)
#pragma unroll
        for (unsigned j = 0; j < TN; ++j) {
            const unsigned down = warp_row + i / P * 4 * P + i % P, across = warp_column + j / P * 8 * P + j % P;
            if (blockIdx.x >= whole)
                slot[down * BN + across] = totals[i][j];
            else if (is_own(part, part.row + down, part.column + across, m, n))
                c[static_cast<size_t>(part.row + down) * n + part.column + across] = totals[i][j];
        }
}
