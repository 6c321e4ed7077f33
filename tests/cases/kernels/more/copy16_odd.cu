// Sixteen bytes are copied asynchronously to rows of twelve.
// launch: grid=1 block=16 args=f4[64]:rand,f4[16]
#include <cuda_pipeline.h>
extern "C" __global__ void copy16_odd(const float *x, float *y) {
    __shared__ alignas(16) float s[64];
    int t = threadIdx.x, pitch = BUGGY ? 3 : 4;
    __pipeline_memcpy_async(s + pitch * t, x + 4 * t, 16);  // BUG: misaligned
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[t] = s[pitch * (15 - t)];
}
