// A barrier orders threads of its block only; the values of another block need a second launch or a grid barrier.
// launch: grid=4 block=64 args=f4[256]:rand,f4[256],out:f4[256]
#include <cooperative_groups.h>
extern "C" __global__ void barrier_between_blocks(const float *x, float *step, float *y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    step[i] = x[i] * x[i];  // OTHER
    if (BUGGY) __syncthreads();
    else cooperative_groups::this_grid().sync();
    y[i] = step[(i + 64) % 256];  // BUG: global-race
}
