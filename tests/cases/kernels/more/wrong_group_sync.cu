// A tile of 16 lanes synchronises its halves only, by the group of eight that it was cut into.
// launch: grid=1 block=64 args=f4[64]:rand,out:f4[64]
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void wrong_group_sync(const float *x, float *y) {
    __shared__ float s[64];
    auto sixteen = cg::tiled_partition<16>(cg::this_thread_block());
    auto eight = cg::tiled_partition<8>(sixteen);
    float *mine = s + threadIdx.x / 16 * 16;
    mine[sixteen.thread_rank()] = x[threadIdx.x];  // OTHER
    if (BUGGY) eight.sync(); else sixteen.sync();
    y[threadIdx.x] = mine[15 - sixteen.thread_rank()];  // BUG: warp-race
}
