// Blocks keep the greatest value in a variable of the module, one of them without an atomic.
// launch: grid=3 block=32 args=i4[96]:perm,out:i4[1]
__device__ int best = 0;
extern "C" __global__ void device_variable(const int *x, int *y) {
    int v = x[blockIdx.x * 32 + threadIdx.x];
    if (BUGGY) { if (v > best) best = v; }  // BUG: global-race
    else atomicMax(&best, v);
    if (blockIdx.x == 0 && threadIdx.x == 0) y[0] = 1;
}
