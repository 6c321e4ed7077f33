// A pipeline of copies waits for all but two groups where one may still be in flight.
// launch: grid=1 block=32 args=f4[128]:rand,out:f4[128]
#include <cuda_pipeline.h>
extern "C" __global__ void cp_async_group_count(const float *x, float *y) {
    __shared__ float s[2][32];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[0][t], &x[t], 4);  // OTHER
    __pipeline_commit();
    for (int k = 0; k < 4; k++) {
        if (k < 3) __pipeline_memcpy_async(&s[(k + 1) % 2][t], &x[32 * (k + 1) + t], 4);  // OTHER
        __pipeline_commit();
        __pipeline_wait_prior(BUGGY ? 2 : 1);
        __syncthreads();
        y[32 * k + t] = s[k % 2][31 - t];  // BUG: shared-race
        __syncthreads();
    }
}
