// A named barrier for 64 of 96 threads: two warps may pass while the third, whose data are needed, has not come.
// launch: grid=1 block=96 args=f4[96]:rand,out:f4[96]
extern "C" __global__ void named_count(const float *x, float *y) {
    __shared__ float s[96];
    int t = threadIdx.x;
    s[t] = x[t];  // OTHER
    if (BUGGY) { if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory"); else asm volatile("bar.sync 2, 32;" ::: "memory"); }
    else asm volatile("bar.sync 1, 96;" ::: "memory");
    y[t] = s[95 - t];  // BUG: shared-race
}
