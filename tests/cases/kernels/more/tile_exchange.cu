// Tiles of 16 synchronise, but values are taken from the other tile of the warp.
// launch: grid=1 block=64 args=out:i4[64]
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tile_exchange(int *y) {
    __shared__ int s[64];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x;
    s[t] = 2 * t;  // OTHER
    tile.sync();
    y[t] = s[t ^ (BUGGY ? 16 : 15)];  // BUG: warp-race
}
