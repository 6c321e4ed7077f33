// A lock per lane: the lock is released before the protected value is stored.
// launch: grid=2 block=32 args=i4[1],i4[1]
extern "C" __global__ void lane_lock_released_early(int *lock, int *value) {
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            int v = *value;  // OTHER
            if (BUGGY) { __threadfence(); atomicExch(lock, 0); *value = v + 1; }  // BUG: global-race
            else { *value = v + 1; __threadfence(); atomicExch(lock, 0); }
            done = true;
        }
    }
}
