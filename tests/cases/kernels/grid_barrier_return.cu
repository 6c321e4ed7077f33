// A block without work returns before the barrier of the whole grid, where all others wait for it.
// launch: grid=4 block=32 timeout=5 args=f4[96]:rand,f4[128],i4=96
#include <cooperative_groups.h>
extern "C" __global__ void grid_barrier_return(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (BUGGY && blockIdx.x * blockDim.x >= n) return;
    if (i < n) y[i] = x[i];
    cooperative_groups::this_grid().sync();  // BUG: deadlock
    if (i < n) y[i] += 1;
}
