// A maximum is kept by an atomic in most blocks and by a plain comparison in one.
// launch: grid=4 block=32 args=i4[128]:rand,i4[1]
extern "C" __global__ void atomics_mixed(const int *x, int *best) {
    int v = x[blockIdx.x * 32 + threadIdx.x];
    for (int o = 16; o > 0; o /= 2) v = max(v, __shfl_xor_sync(~0u, v, o));
    if (threadIdx.x == 0) {
        if (BUGGY && blockIdx.x == 3) { if (v > *best) *best = v; }  // BUG: global-race
        else atomicMax(best, v);  // OTHER
    }
}
