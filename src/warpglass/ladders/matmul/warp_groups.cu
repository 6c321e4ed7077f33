// Products of 64 x 256 tiles by four warps together: see warp_groups.py. A and B are packed (packed.cu). For sm_90a.
#include "packed.cuh"
#include "tiles.cuh"

#define FOUR(i) "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
#define ALL SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48), SIXTEEN(64), SIXTEEN(80), SIXTEEN(96), SIXTEEN(112)
#define REGISTERS \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define MULTIPLY(KIND, SHAPE, NAME, TURNS)                                                                     \
    __device__ void multiply(KIND, float (&c)[128], unsigned long long a, unsigned long long b)                \
    {                                                                                                          \
        asm volatile("wgmma.mma_async.sync.aligned." SHAPE ".f32." NAME "." NAME " {" REGISTERS "}, "          \
                     "%128, %129, 1, 1, 1" TURNS ";"                                                           \
                     : ALL                                                                                     \
                     : "l"(a), "l"(b));                                                                        \
    }
MULTIPLY(Tf32, "m64n256k8", "tf32", "")
MULTIPLY(Bf16, "m64n256k16", "bf16", ", 0, 0")
MULTIPLY(F16, "m64n256k16", "f16", ", 0, 0")

// Where a tile of packed rows begins, as the tensor cores are told: 1024 bytes from eight rows to the next eight,
// chunks turned as packed.cu does.
__device__ unsigned long long described(unsigned from)
{
    return (1ull << 62) | (64ull << 32) | (1ull << 16) | ((from & 0x3ffff) >> 4);
}

// Barriers count arrivals of threads, and bytes that copies have brought.
__device__ void open_barrier(unsigned barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ void expect_bytes(unsigned barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ void wait_for_phase(unsigned barrier, unsigned parity)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
}

// Arrive at the same barrier of a block of the cluster.
__device__ void arrive_at(unsigned barrier, unsigned block)
{
    asm volatile("{\n\t.reg .b32 remote;\n\t"
                 "mapa.shared::cluster.u32 remote, %0, %1;\n\t"
                 "mbarrier.arrive.shared::cluster.b64 _, [remote];\n\t}" ::"r"(barrier),
                 "r"(block)
                 : "memory");
}

__device__ void copy_unit(unsigned to, const uint4 *from, unsigned barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "n"(UNIT_BYTES), "r"(barrier)
                 : "memory");
}

// The same to the same place in both blocks of a cluster, whose barriers each count the bytes.
__device__ void copy_unit_to_both(unsigned to, const uint4 *from, unsigned barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                 " [%0], [%1], %2, [%3], %4;" ::"r"(to),
                 "l"(from), "n"(UNIT_BYTES), "r"(barrier), "h"(static_cast<unsigned short>(3))
                 : "memory");
}

// Wait for all threads of both blocks.
__device__ void meet_cluster()
{
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
}

constexpr unsigned GROUPS = 2, BM = GROUPS * UNIT_ROWS, BN = 256, STAGE = (BM + BN) * 128;

// Two blocks compute 256 x 256 elements, each its half of the rows; each brings half of B's tile for both.
template <typename Kind, typename C, unsigned STAGES>
__global__ void __cluster_dims__(2) __launch_bounds__(GROUPS * 128 + 32, 1)
    warp_groups(const uint4 *__restrict__ a, const uint4 *__restrict__ b, C *c, unsigned m, unsigned n, unsigned steps)
{
    if (m == 0 || n == 0) return;
    extern __shared__ uint4 tiles[];
    __shared__ unsigned long long full[STAGES], empty[STAGES];
    const unsigned shared = (shared_address(tiles) + 1023) / 1024 * 1024;
    const unsigned thread = threadIdx.x, lane = thread % 32, warp = thread / 32, half = blockIdx.x % 2;
    const Place tile = tile_at(blockIdx.x / 2, (m + 2 * BM - 1) / (2 * BM), (n + BN - 1) / BN);
    const unsigned row = tile.row * 2 * BM + half * BM, column = tile.column * BN;
    if (thread == 0) {
        for (unsigned i = 0; i < STAGES; ++i) {
            open_barrier(shared_address(&full[i]), 1);
            open_barrier(shared_address(&empty[i]), 2 * GROUPS * 4);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    meet_cluster();

    if (warp == GROUPS * 4) {
        if (lane == 0) {
            unsigned stage = 0, parity = 1;
            for (unsigned step = 0; step < steps; ++step) {
                const unsigned barrier = shared_address(&full[stage]), to = shared + stage * STAGE;
                const auto unit = [=](unsigned first, unsigned i) {
                    return (static_cast<size_t>(first / UNIT_ROWS + i) * steps + step) * (UNIT_BYTES / 16);
                };
                wait_for_phase(shared_address(&empty[stage]), parity);
                expect_bytes(barrier, STAGE);
                for (unsigned i = 0; i < GROUPS; ++i) copy_unit(to + i * UNIT_BYTES, a + unit(row, i), barrier);
                for (unsigned i = half * 2; i < half * 2 + 2; ++i)
                    copy_unit_to_both(to + (GROUPS + i) * UNIT_BYTES, b + unit(column, i), barrier);
                parity ^= stage == STAGES - 1;
                stage = stage == STAGES - 1 ? 0 : stage + 1;
            }
        }
    } else {
        float totals[128] = {};
        unsigned stage = 0, parity = 0, before = 0;
        for (unsigned step = 0; step < steps; ++step) {
            const unsigned from = shared + stage * STAGE;
            wait_for_phase(shared_address(&full[stage]), parity);
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (unsigned at = 0; at < 4; ++at)
                multiply(Kind(), totals, described(from + warp / 4 * UNIT_BYTES + at * 32),
                         described(from + GROUPS * UNIT_BYTES + at * 32));
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
            if (step > 0 && lane < 2) arrive_at(shared_address(&empty[before]), lane);
            before = stage;
            parity ^= stage == STAGES - 1;
            stage = stage == STAGES - 1 ? 0 : stage + 1;
        }
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");

        const unsigned top = row + warp * 16 + lane / 4;
#pragma unroll
        for (unsigned j = 0; j < 32; ++j)
#pragma unroll
            for (unsigned half = 0; half < 2; ++half)
                store_pair(c, top + half * 8, column + j * 8 + lane % 4 * 2, m, n, totals[j * 4 + half * 2],
                           totals[j * 4 + half * 2 + 1]);
    }
    meet_cluster();
}
