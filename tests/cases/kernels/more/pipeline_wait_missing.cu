// A two-stage pipeline consumes a stage that it has not waited for.
// launch: grid=1 block=64 args=f4[512]:rand,f4[64]
#include <cuda/pipeline>
#include <cooperative_groups.h>
extern "C" __global__ void pipeline_wait_missing(const float *x, float *y) {
    __shared__ float stage[2][64];
    int t = threadIdx.x;
    float sum = 0;
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&stage[0][t], x + t, sizeof(float), pipe);  // OTHER
    pipe.producer_commit();
    for (int k = 0; k < 8; k++) {
        if (k < 7) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[(k + 1) & 1][t], x + 64 * (k + 1) + t, sizeof(float), pipe);  // OTHER
            pipe.producer_commit();
        }
        if (!BUGGY) {
            if (k < 7) cuda::pipeline_consumer_wait_prior<1>(pipe);
            else cuda::pipeline_consumer_wait_prior<0>(pipe);
        }
        __syncthreads();
        sum += stage[k & 1][63 - t];  // BUG: shared-race
        __syncthreads();
        pipe.consumer_release();
    }
    y[t] = sum;
}
