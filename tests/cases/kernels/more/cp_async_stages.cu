// Three stages of asynchronous copies: with two groups still allowed under way the oldest stage is not awaited.
// launch: grid=1 block=64 args=f4[1024]:rand,out:f4[64]
#include <cuda_pipeline.h>
extern "C" __global__ void cp_async_stages(const float *x, float *y) {
    __shared__ float stage[3][64];
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        __pipeline_memcpy_async(&stage[k][t], &x[64 * k + t], 4);  // OTHER
        __pipeline_commit();
    }
    float sum = 0;
    for (int k = 0; k < 16; k++) {
        if (k + 2 < 16) __pipeline_memcpy_async(&stage[(k + 2) % 3][t], &x[64 * (k + 2) + t], 4);  // OTHER
        __pipeline_commit();
        __pipeline_wait_prior(BUGGY ? 3 : 2);
        __syncthreads();
        sum += stage[k % 3][63 - t];  // BUG: shared-race
        __syncthreads();
    }
    y[t] = sum;
}
