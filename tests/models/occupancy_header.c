/* NVIDIA's own occupancy arithmetic behind one plain function, for test_occupancy_header.py to compare with. */
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include "cuda_occupancy.h"

static cudaOccDeviceProp device(const int *d) {
    cudaOccDeviceProp p;
    memset(&p, 0, sizeof p);
    p.computeMajor = d[0];
    p.computeMinor = d[1];
    p.maxThreadsPerBlock = d[2];
    p.maxThreadsPerMultiprocessor = d[3];
    p.regsPerBlock = d[4];
    p.regsPerMultiprocessor = d[5];
    p.warpSize = 32;
    p.sharedMemPerBlock = d[6];
    p.sharedMemPerMultiprocessor = d[7];
    p.sharedMemPerBlockOptin = d[8];
    p.reservedSharedMemPerBlock = d[9];
    p.numSms = d[10];
    return p;
}

/* k: threads limit, registers, static shared, opt-in, largest dynamic shared, barriers, partitioned caching */
static cudaOccFuncAttributes function(const int *k) {
    cudaOccFuncAttributes a;
    memset(&a, 0, sizeof a);
    a.maxThreadsPerBlock = k[0];
    a.numRegs = k[1];
    a.sharedSizeBytes = k[2];
    a.shmemLimitConfig = k[3] ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT;
    a.maxDynamicSharedSizeBytes = k[4];
    a.numBlockBarriers = k[5];
    a.partitionedGCConfig = k[6] ? PARTITIONED_GC_ON : PARTITIONED_GC_OFF;
    return a;
}

static cudaOccDeviceState state(int cache, int carveout) {
    cudaOccDeviceState s;
    memset(&s, 0, sizeof s);
    s.cacheConfig = (cudaOccCacheConfig)cache;
    s.carveoutConfig = carveout;
    return s;
}

/* out: blocks, limits by registers, warps, blocks, shared memory, barriers, and the mask of limiting factors */
int active_blocks(const int *d, const int *k, int cache, int carveout, int threads, int dynamic, int *out) {
    cudaOccDeviceProp p = device(d);
    cudaOccFuncAttributes a = function(k);
    cudaOccDeviceState s = state(cache, carveout);
    cudaOccResult r;
    int status = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &a, &s, threads, (size_t)dynamic);
    if (status) return status;
    out[0] = r.activeBlocksPerMultiprocessor;
    out[1] = r.blockLimitRegs;
    out[2] = r.blockLimitWarps;
    out[3] = r.blockLimitBlocks;
    out[4] = r.blockLimitSharedMem;
    out[5] = r.blockLimitBarriers;
    out[6] = (int)r.limitingFactors;
    out[7] = (int)r.allocatedRegistersPerBlock;
    out[8] = (int)r.allocatedSharedMemPerBlock;
    return 0;
}

/* out: threads, blocks of the grid */
int best_block(const int *d, const int *k, int carveout, int dynamic, int *out) {
    cudaOccDeviceProp p = device(d);
    cudaOccFuncAttributes a = function(k);
    cudaOccDeviceState s = state(0, carveout);
    return cudaOccMaxPotentialOccupancyBlockSize(&out[1], &out[0], &p, &a, &s, NULL, (size_t)dynamic);
}
