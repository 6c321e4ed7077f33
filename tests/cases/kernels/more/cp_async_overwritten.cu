// A stage is copied into while slower warps still read it: the barrier stands behind the copy.
// launch: grid=1 block=64 args=f4[512]:rand,f4[64]
#include <cuda_pipeline.h>
extern "C" __global__ void cp_async_overwritten(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 8; k++) {
        if (!BUGGY) __syncthreads();
        __pipeline_memcpy_async(&s[t], &x[64 * k + t], 4);  // BUG: shared-race
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += s[63 - t];  // OTHER
    }
    y[t] = sum;
}
