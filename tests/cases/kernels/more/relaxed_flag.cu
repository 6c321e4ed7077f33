// A message is announced by a relaxed store: nothing orders the data before it.
// launch: grid=2 block=32 args=i4[1],i4[1],i4[1]
#include <cuda/atomic>
extern "C" __global__ void relaxed_flag(int *data, int *flag, int *y) {
    if (threadIdx.x) return;
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        *data = 42;  // BUG: global-race
        ready.store(1, BUGGY ? cuda::memory_order_relaxed : cuda::memory_order_release);
    } else {
        while (!ready.load(cuda::memory_order_acquire)) {}
        *y = *data;  // OTHER
    }
}
