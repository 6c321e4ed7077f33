// Two halves of a block wait at different barriers, which is fine until one reads what the other wrote.
// launch: grid=1 block=128 args=f4[128]:rand,out:f4[128]
extern "C" __global__ void barrier_groups(const float *x, float *y) {
    __shared__ float s[128];
    int t = threadIdx.x, group = t / 64;
    s[t] = x[t];  // OTHER
    asm volatile("bar.sync %0, 64;" ::"r"(1 + group) : "memory");
    int from = 63 - t % 64 + 64 * (BUGGY ? 1 - group : group);
    y[t] = s[from];  // BUG: shared-race
}
