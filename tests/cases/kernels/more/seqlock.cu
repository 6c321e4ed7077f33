// A sequence lock whose writer's data are plain stores, so readers that retry still race with it.
// launch: grid=2 block=32 args=i4[1],i4[2],i4[2]
#include <cuda/atomic>
extern "C" __global__ void seqlock(int *sequence, int *data, int *y) {
    cuda::atomic_ref<int, cuda::thread_scope_device> s(*sequence), a(data[0]), b(data[1]);
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 1) {
        s.store(1, cuda::memory_order_relaxed);
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        if (BUGGY) { data[0] = 5; data[1] = 6; }  // OTHER
        else { a.store(5, cuda::memory_order_relaxed); b.store(6, cuda::memory_order_relaxed); }
        s.store(2, cuda::memory_order_release);
    } else {
        int before = s.load(cuda::memory_order_acquire);
        int u = a.load(cuda::memory_order_relaxed);  // BUG: global-race
        int v = b.load(cuda::memory_order_relaxed);  // BUG: global-race
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        if (s.load(cuda::memory_order_relaxed) == before && before % 2 == 0) { y[0] = u; y[1] = v; }
    }
}
