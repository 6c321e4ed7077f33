// Results are read between arriving at a barrier object and waiting for it.
// launch: grid=1 block=64 args=f4[64]:rand,out:f4[64]
#include <cuda/barrier>
#include <cuda/std/utility>
extern "C" __global__ void barrier_token(const float *x, float *y) {
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t == 0) init(&bar, blockDim.x);
    __syncthreads();
    s[t] = x[t];  // OTHER
    auto token = bar.arrive();
    float early = BUGGY ? s[63 - t] : 0;  // BUG: shared-race
    bar.wait(cuda::std::move(token));
    y[t] = BUGGY ? early : s[63 - t];
}
