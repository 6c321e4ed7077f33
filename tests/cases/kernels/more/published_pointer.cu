// A block fills a record and publishes its index with a relaxed store; readers of other blocks follow it.
// launch: grid=2 block=32 args=i4[1],i4[64],i4[32]
#include <cuda/atomic>
extern "C" __global__ void published_pointer(int *head, int *record, int *y) {
    cuda::atomic_ref<int, cuda::thread_scope_device> h(*head);
    int lane = threadIdx.x;
    if (blockIdx.x == 0) {
        record[32 + lane] = lane;  // OTHER
        __syncwarp();
        if (lane == 0) h.store(32, BUGGY ? cuda::memory_order_relaxed : cuda::memory_order_release);
    } else {
        int at = h.load(cuda::memory_order_acquire);
        if (at != 0) y[lane] = record[at + lane];  // BUG: global-race
    }
}
