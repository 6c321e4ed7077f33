// Jacobi's method on a cooperative grid: after the swap the whole grid must wait, not only the block.
// launch: grid=3 block=32 args=f4[98]:rand,f4[98],i4=3
#include <cooperative_groups.h>
extern "C" __global__ void grid_sync_missing(float *a, float *b, int n) {
    auto grid = cooperative_groups::this_grid();
    int i = grid.thread_rank() + 1;
    for (int k = 0; k < n; k++) {
        b[i] = 0.5f * (a[i - 1] + a[i + 1]);  // BUG: global-race
        if (BUGGY) __syncthreads(); else grid.sync();
        a[i] = b[i];  // OTHER
        grid.sync();
    }
}
