// Blocks hand a value on by tickets: each increments the ticket with acq_rel, so all that came before is visible.
// launch: grid=6 block=1 args=i4[1],i4[1]
#include <cuda/atomic>
extern "C" __global__ void atomic_chain(int *ticket, int *value) {
    cuda::atomic_ref<int, cuda::thread_scope_device> turn(*ticket);
    while (turn.load(cuda::memory_order_acquire) != blockIdx.x) {}
    *value = *value * 3 + blockIdx.x;  // BUG: global-race
    turn.fetch_add(1, BUGGY ? cuda::memory_order_relaxed : cuda::memory_order_release);
}
