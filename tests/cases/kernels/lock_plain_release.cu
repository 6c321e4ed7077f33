// A lock is taken atomically but given back by a plain store, which races with those who try to take it.
// launch: grid=4 block=32 args=i4[1],i4[1]
extern "C" __global__ void lock_plain_release(int *lock, int *count) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}  // OTHER
        __threadfence();
        *count += 1;  // OTHER
        __threadfence();
        if (BUGGY) *lock = 0;  // BUG: global-race
        else atomicExch(lock, 0);
    }
}
