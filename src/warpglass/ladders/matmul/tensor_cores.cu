// Products of 16 x 8 tiles by the tensor cores of a warp: see tensor_cores.py. A and B are packed (packed.cu).
#include "packed.cuh"
#include "tiles.cuh"

#define MULTIPLY(KIND, SHAPE, NAME)                                                                             \
    __device__ void multiply(KIND, float (&c)[4], const unsigned (&a)[4], const unsigned *b)                    \
    {                                                                                                           \
        asm("mma.sync.aligned." SHAPE ".row.col.f32." NAME "." NAME ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "  \
            "{%8, %9}, {%0, %1, %2, %3};"                                                                       \
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                                    \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                                 \
    }
MULTIPLY(Tf32, "m16n8k8", "tf32")
MULTIPLY(Bf16, "m16n8k16", "bf16")
MULTIPLY(F16, "m16n8k16", "f16")

// Four matrices of 8 rows of 16 bytes; each lane points to a row.
__device__ void load_matrices(unsigned (&to)[4], unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
}

// Where a chunk of a row lies in a tile.
__device__ unsigned place(unsigned row, unsigned chunk) { return row * 128 + (chunk ^ row % 8) * 16; }

template <typename Kind, typename C, unsigned BM, unsigned BN, unsigned WM, unsigned WN, unsigned STAGES, unsigned RESIDENT>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * 32, RESIDENT)
    tensor_cores(const uint4 *__restrict__ a, const uint4 *__restrict__ b, C *c, unsigned m, unsigned n, unsigned steps)
{
    if (m == 0 || n == 0) return;
    constexpr unsigned THREADS = BM / WM * (BN / WN) * 32, STAGE = (BM + BN) * 128, LINES = THREADS / 8;
    extern __shared__ uint4 tiles[];
    const unsigned shared = shared_address(tiles), thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const Place tile = tile_at(blockIdx.x, (m + BM - 1) / BM, (n + BN - 1) / BN);
    const unsigned row = tile.row * BM, column = tile.column * BN;

    // Tiles are copied as they lie, row by row of 128 bytes.
    const uint4 *const a_from = a + static_cast<size_t>(row) * steps * 8 + thread;
    const uint4 *const b_from = b + static_cast<size_t>(column) * steps * 8 + thread;
    const auto copy = [&](unsigned step, unsigned stage) {
        const unsigned to = shared + stage * STAGE + thread * 16;
        const auto at = [=](unsigned i) {
            return (static_cast<size_t>(i / UNIT_ROWS) * steps + step) * (UNIT_BYTES / 16) + i % UNIT_ROWS * 8;
        };
#pragma unroll
        for (unsigned i = 0; i < BM; i += LINES) copy_async<16>(to + i * 128, a_from + at(i), true);
#pragma unroll
        for (unsigned i = 0; i < BN; i += LINES) copy_async<16>(to + (BM + i) * 128, b_from + at(i), true);
    };

    const unsigned warp_row = warp / (BN / WN) * WM, warp_column = warp % (BN / WN) * WN;
    const unsigned a_line = warp_row + lane % 16, b_line = BM + warp_column + lane % 8 + lane / 16 * 8;
    float totals[WM / 16][WN / 8][4] = {};
    unsigned of_a[2][WM / 16][4], of_b[2][WN / 16][4];
    const auto take = [&](unsigned stage, unsigned at, unsigned into) {
        const unsigned from = shared + stage * STAGE;
#pragma unroll
        for (unsigned i = 0; i < WM / 16; ++i)
            load_matrices(of_a[into][i], from + place(a_line, at * 2 + lane / 16) + i * 16 * 128);
#pragma unroll
        for (unsigned j = 0; j < WN / 16; ++j)
            load_matrices(of_b[into][j], from + place(b_line, at * 2 + lane / 8 % 2) + j * 16 * 128);
    };

#pragma unroll
    for (unsigned stage = 0; stage < STAGES - 1; ++stage) {
        if (stage < steps) copy(stage, stage);
        close_group();
    }
    wait_for_groups<STAGES - 2>();
    __syncthreads();
    unsigned reading = 0, writing = STAGES - 1;
    if (steps > 0) take(0, 0, 0);
    for (unsigned step = 0; step < steps; ++step) {
#pragma unroll
        for (unsigned at = 0; at < 4; ++at) {
            if (at == 3) {
                wait_for_groups<STAGES - 2>();
                __syncthreads();
                reading = reading == STAGES - 1 ? 0 : reading + 1;
            }
            take(reading, (at + 1) % 4, (at + 1) % 2);
            if (at == 0) {
                if (step + STAGES - 1 < steps) copy(step + STAGES - 1, writing);
                close_group();
                writing = writing == STAGES - 1 ? 0 : writing + 1;
            }
#pragma unroll
            for (unsigned i = 0; i < WM / 16; ++i)
#pragma unroll
                for (unsigned j = 0; j < WN / 8; ++j)
                    multiply(Kind(), totals[i][j], of_a[at % 2][i], &of_b[at % 2][j / 2][j % 2 * 2]);
        }
    }

#pragma unroll
    for (unsigned i = 0; i < WM / 16; ++i)
#pragma unroll
        for (unsigned j = 0; j < WN / 8; ++j)
#pragma unroll
            for (unsigned half = 0; half < 2; ++half)
                store_pair(c, row + warp_row + i * 16 + lane / 4 + half * 8,
                           column + warp_column + j * 8 + lane % 4 * 2, m, n, totals[i][j][half * 2],
                           totals[i][j][half * 2 + 1]);
}
