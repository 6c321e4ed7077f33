// The barrier is told of 96 threads where only 64 come: nobody goes on.
// launch: grid=1 block=96 timeout=5 args=f4[64]:rand,f4[64]
extern "C" __global__ void barrier_count(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t >= 64) {
        if (BUGGY) asm volatile("bar.sync 3, 96;" ::: "memory");  // BUG: deadlock
        return;
    }
    s[t] = x[t];
    if (BUGGY) asm volatile("bar.sync 2, 96;" ::: "memory");  // BUG: deadlock
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    y[t] = s[63 - t];
}
