// Eight lanes form a group; its sync() orders them, and being in one warp does not.
// launch: grid=1 block=64 args=f4[64]:rand,out:f4[64]
#include <cooperative_groups.h>
extern "C" __global__ void tile_group(const float *x, float *y) {
    __shared__ float s[64];
    auto group = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
    float *mine = s + threadIdx.x / 8 * 8;
    mine[group.thread_rank()] = x[threadIdx.x];  // OTHER
    if (!BUGGY) group.sync();
    y[threadIdx.x] = mine[7 - group.thread_rank()];  // BUG: warp-race
}
