// A cuda::barrier expects 64 arrivals, but threads of a branch do not arrive.
// launch: grid=1 block=64 timeout=3 args=f4[64]:rand,out:f4[64]
#include <cuda/barrier>
extern "C" __global__ void mbarrier_count(const float *x, float *y) {
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t == 0) init(&bar, 64);
    __syncthreads();
    s[t] = x[t];
    if (!BUGGY || t < 48) bar.arrive_and_wait();  // BUG: timeout
    y[t] = s[t];
}
