// Arriving at a cuda::barrier is not enough to read what the others wrote: one must wait for it, too.
// launch: grid=1 block=64 args=f4[64]:rand,out:f4[64]
#include <cuda/barrier>
#pragma nv_diag_suppress static_var_with_dynamic_init
extern "C" __global__ void block_barrier_object(const float *x, float *y) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ float s[64];
    if (threadIdx.x == 0) init(&barrier, 64);
    __syncthreads();
    s[threadIdx.x] = x[threadIdx.x];  // OTHER
    auto token = barrier.arrive();
    if (!BUGGY) barrier.wait(static_cast<decltype(token) &&>(token));
    y[threadIdx.x] = s[(threadIdx.x + 40) % 64];  // BUG: shared-race
}
