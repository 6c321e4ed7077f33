// A cuda::pipeline copies ahead: the stage must be awaited before it is read, and released before it is filled.
// launch: grid=1 block=64 args=f4[512]:rand,out:f4[64]
#include <cooperative_groups.h>
#include <cuda/pipeline>
extern "C" __global__ void pipeline_object(const float *x, float *y) {
    __shared__ float stage[2][64];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x;
    float sum = 0;
    pipe.producer_acquire();
    cuda::memcpy_async(&stage[0][t], &x[t], sizeof(float), pipe);
    pipe.producer_commit();
    for (int i = 0; i < 8; i++) {
        if (i < 7) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[(i + 1) % 2][t], &x[64 * (i + 1) + t], sizeof(float), pipe);  // BUG: shared-race
            pipe.producer_commit();
        }
        if (i < 7) cuda::pipeline_consumer_wait_prior<1>(pipe);
        else cuda::pipeline_consumer_wait_prior<0>(pipe);
        __syncthreads();
        sum += stage[i % 2][63 - t];  // OTHER
        if (!BUGGY) __syncthreads();
        pipe.consumer_release();
    }
    y[t] = sum;
}
