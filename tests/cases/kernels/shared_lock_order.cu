// Threads of two warps change one list under a lock; one of them forgets to take it.
// launch: grid=1 block=64 args=out:i4[1]
extern "C" __global__ void shared_lock_order(int *y) {
    __shared__ int lock, length;
    if (threadIdx.x == 0) { lock = 0; length = 0; }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        bool locks = !BUGGY || threadIdx.x == 0;
        if (locks) while (atomicCAS(&lock, 0, 1) != 0) {}
        __threadfence_block();
        length += 1;  // BUG: shared-race
        __threadfence_block();
        if (locks) atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) y[0] = length;
}
