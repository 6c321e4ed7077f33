// Threads arrive at a cuda::barrier and go on reading without waiting for it.
// launch: grid=1 block=128 args=out:i4[128]
#include <cuda/barrier>
extern "C" __global__ void arrive_without_wait(int *y) {
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ barrier bar;
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t == 0) init(&bar, 128);
    __syncthreads();
    s[t] = t;  // OTHER
    auto token = bar.arrive();
    if (!BUGGY) bar.wait(std::move(token));
    y[t] = s[127 - t];  // BUG: shared-race
    if (BUGGY) bar.wait(std::move(token));
}
