// Half of a tile's threads call its sync() in a branch that the others do not take.
// launch: grid=1 block=32 args=i4[32]:arange,out:i4[32]
#include <cooperative_groups.h>
extern "C" __global__ void tile32_branch(const int *x, int *y) {
    __shared__ int s[32];
    auto tile = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
    int t = threadIdx.x;
    s[t] = x[t];
    if (!BUGGY) tile.sync();
    if (x[t] % 2 == 0) {
        if (BUGGY) tile.sync();  // BUG: sync-mask
        s[t] += 1;
    }
    tile.sync();
    y[t] = s[31 - t];
}
