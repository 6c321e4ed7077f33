// A group's reduction is for all of its threads; a group of those who came is coalesced_threads(), not the tile.
// launch: grid=1 block=64 args=i4[64]:perm,out:i4[64]
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void group_reduce(const int *x, int *y) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int v = x[threadIdx.x], sum = 0;
    if (v % 3 == 0) {
        if (BUGGY) sum = cg::reduce(tile, v, cg::plus<int>());  // BUG: sync-mask
        else sum = cg::reduce(cg::coalesced_threads(), v, cg::plus<int>());
    }
    y[threadIdx.x] = sum;
}
