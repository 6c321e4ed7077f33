// A lock is tried in an inner loop, a barrier ends each outer turn: all lanes come to it; one that gives up does not.
// launch: grid=1 block=64 args=i4[1],i4[1]
extern "C" __global__ void spin_then_barrier(int *lock, int *total) {
    for (int k = 0; k < 3; k++) {
        bool done = false;
        while (!done) {
            if (atomicCAS(lock, 0, 1) == 0) {
                __threadfence();
                *total += 1;
                __threadfence();
                atomicExch(lock, 0);
                done = true;
            }
        }
        if (BUGGY && threadIdx.x == 5 && k == 1) return;
        __syncthreads();
        if (BUGGY && k == 2 && threadIdx.x > 40) __syncthreads();  // BUG: barrier-divergence
    }
}
