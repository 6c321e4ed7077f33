// A flag of the C++ library's atomics hands over data if it is stored with release and loaded with acquire.
// launch: grid=2 block=1 args=i4[1],i4[1],out:i4[1]
#include <cuda/atomic>
extern "C" __global__ void atomic_ref_flag(int *flag, int *box, int *y) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        *box = 42;  // OTHER
        ready.store(1, BUGGY ? cuda::memory_order_relaxed : cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {}
        *y = *box;  // BUG: global-race
    }
}
