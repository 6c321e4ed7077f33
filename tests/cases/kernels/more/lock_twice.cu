// A thread takes a lock that it already has.
// launch: grid=1 block=32 timeout=3 args=i4[1],i4[1]
extern "C" __global__ void lock_twice(int *lock, int *y) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        if (BUGGY) while (atomicCAS(lock, 0, 1) != 0) {}  // BUG: timeout
        __threadfence();
        y[0] += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}
