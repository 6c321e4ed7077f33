// Producers arrive at barrier 1 and go on; consumers must wait at that barrier, not at one of their own.
// launch: grid=1 block=128 args=f4[64]:rand,out:f4[64]
extern "C" __global__ void named_barrier(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x % 64;
    if (threadIdx.x < 64) {
        s[t] = 2 * x[t];  // OTHER
        if (!BUGGY) asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
        if (BUGGY) asm volatile("bar.sync 2, 64;" ::: "memory");
        else asm volatile("bar.sync 1, 128;" ::: "memory");
        y[t] = s[63 - t];  // BUG: shared-race
    }
}
