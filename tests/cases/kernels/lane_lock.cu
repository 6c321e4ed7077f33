// Every lane takes a lock, one after another; fences inside make what it protects visible to the next.
// launch: grid=2 block=32 args=i4[1],f4[1],f4[64]:rand
extern "C" __global__ void lane_lock(int *lock, float *sum, const float *x) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            if (!BUGGY) __threadfence();
            *sum += x[blockIdx.x * 32 + threadIdx.x];  // BUG: global-race
            if (!BUGGY) __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
