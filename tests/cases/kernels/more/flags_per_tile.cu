// A tile's producer sets a flag by release; consumers of any warp acquire it, and then read the tile.
// launch: grid=3 block=64 args=f4[192]:rand,f4[192],i4[3],out:f4[192]
#include <cuda/atomic>
extern "C" __global__ void flags_per_tile(const float *x, float *tile, int *flag, float *y) {
    int b = blockIdx.x, t = threadIdx.x;
    tile[64 * b + t] = x[64 * b + t] + 1;  // OTHER
    __syncthreads();
    if (t == 0) cuda::atomic_ref<int, cuda::thread_scope_device>(flag[b]).store(1, cuda::memory_order_release);
    if (b > 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device> before(flag[b - 1]);
        if (BUGGY ? t == 0 : true) while (before.load(cuda::memory_order_acquire) == 0) {}
        y[64 * b + t] = tile[64 * (b - 1) + 63 - t];  // BUG: global-race
    } else {
        y[t] = 0;
    }
}
