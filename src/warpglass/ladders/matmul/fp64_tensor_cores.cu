// Products of doubles by tensor cores: see fp64_tensor_cores.py.
#include "parts.cuh"

// C += A B of 16 x 8 by 8 x 8 doubles. Lane l has rows l / 4 and l / 4 + 8 of A and C, column l / 4 of B, numbers
// l % 4 and l % 4 + 4 along k, and columns l % 4 * 2 and the next of C.
__device__ void multiply(double (&c)[4], const double (&a)[4], const double (&b)[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

template <unsigned BM, unsigned BN, unsigned BK, unsigned WM, unsigned WN, unsigned STAGES, unsigned RESIDENT>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * 32, RESIDENT)
    fp64_tensor_cores(const double *__restrict__ a, const double *__restrict__ b, double *__restrict__ c,
                      double *__restrict__ partial, unsigned m, unsigned n, unsigned k, unsigned whole, unsigned splits)
{
    if (m == 0 || n == 0) return;
    // Four doubles more a row: four rows of four neighbours, which half a warp loads, lie in different banks.
    constexpr unsigned THREADS = BM / WM * (BN / WN) * 32, K = 8, A_PITCH = BK + 4, B_PITCH = BN + 4;
    constexpr unsigned A_SIZE = BM * A_PITCH, STAGE = A_SIZE + BK * B_PITCH;
    static_assert(THREADS % BN == 0 && THREADS % BK == 0, "threads that share a column");
    extern __shared__ double tiles[];
    const unsigned steps = (k + BK - 1) / BK, thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const Part part = part_of<BM, BN>(blockIdx.x, m, n, steps, whole, splits);

    // Step s begins at element k - (steps - s) BK of a sum: what the first one lacks comes before element 0.
    const unsigned of_a = thread % BK, a_row = thread / BK, of_b = thread / BN, b_column = thread % BN;
    const auto copy = [&](unsigned step, unsigned stage, bool checked) {
        const long long start = static_cast<long long>(k) - static_cast<long long>(steps - step) * BK;
        const double *const a_from = a + start + of_a;
        const double *const b_from = b + (start + of_b) * n + min(part.column + b_column, n - 1);
        double *const a_to = tiles + stage * STAGE, *const b_to = a_to + A_SIZE;
        const bool a_inside = !checked || start + of_a >= 0;
#pragma unroll
        for (unsigned i = 0; i < BM; i += THREADS / BK) {
            const double *const from = below(a_from, min(part.row + a_row + i, m - 1), k * sizeof(double));
            copy_async<8>(shared_address(&a_to[(a_row + i) * A_PITCH + of_a]), a_inside ? from : a, a_inside);
        }
#pragma unroll
        for (unsigned i = 0; i < BK; i += THREADS / BN) {
            const bool inside = !checked || start + of_b + i >= 0;
            const double *const from = below(b_from, i, n * sizeof(double));
            copy_async<8>(shared_address(&b_to[(of_b + i) * B_PITCH + b_column]), inside ? from : b, inside);
        }
    };

    const unsigned warp_row = warp / (BN / WN) * WM, warp_column = warp % (BN / WN) * WN;
    double totals[WM / 16][WN / 8][4] = {};
    double of_rows[2][WM / 16][K / 2], of_columns[2][WN / 8][K / 4];
    const auto take = [&](unsigned stage, unsigned at, unsigned into) {
        const double *const from_a = tiles + stage * STAGE + (warp_row + lane / 4) * A_PITCH + at * K + lane % 4;
        const double *const from_b = tiles + stage * STAGE + A_SIZE + (at * K + lane % 4) * B_PITCH + warp_column + lane / 4;
#pragma unroll
        for (unsigned i = 0; i < WM / 16; ++i)
#pragma unroll
            for (unsigned j = 0; j < K / 2; ++j)
                of_rows[into][i][j] = from_a[(i * 16 + j % 2 * 8) * A_PITCH + j / 2 * 4];
#pragma unroll
        for (unsigned i = 0; i < WN / 8; ++i)
#pragma unroll
            for (unsigned j = 0; j < K / 4; ++j) of_columns[into][i][j] = from_b[j * 4 * B_PITCH + i * 8];
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
        for (unsigned at = 0; at < BK / K; ++at) {
            if (at == BK / K - 1) {
                wait_for_groups<STAGES - 2>();
                __syncthreads();
                reading = reading == STAGES - 1 ? 0 : reading + 1;
            }
            take(reading, (at + 1) % (BK / K), (at + 1) % 2);
            if (at == 0) {
                if (step + STAGES - 1 < part.last) copy(step + STAGES - 1, writing, false);
                close_group();
                writing = writing == STAGES - 1 ? 0 : writing + 1;
            }
#pragma unroll
            for (unsigned i = 0; i < WM / 16; ++i)
#pragma unroll
                for (unsigned j = 0; j < WN / 8; ++j) multiply(totals[i][j], of_rows[at % 2][i], of_columns[at % 2][j]);
        }
    }

    double *const slot = partial + static_cast<size_t>(blockIdx.x - whole) * BM * BN;
#pragma unroll
    for (unsigned i = 0; i < WM / 16; ++i)
#pragma unroll
        for (unsigned j = 0; j < WN / 8; ++j)
#pragma unroll
            for (unsigned e = 0; e < 4; ++e) {
                const unsigned down = warp_row + i * 16 + lane / 4 + e / 2 * 8;
                const unsigned across = warp_column + j * 8 + lane % 4 * 2 + e % 2;
                if (blockIdx.x >= whole)
                    slot[down * BN + across] = totals[i][j][e];
                else if (is_own(part, part.row + down, part.column + across, m, n))
                    c[static_cast<size_t>(part.row + down) * n + part.column + across] = totals[i][j][e];
            }
}
