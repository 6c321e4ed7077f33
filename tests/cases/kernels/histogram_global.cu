// Blocks count into the same bins: increments get lost, atomic ones do not, and atomics do not race with atomics.
// launch: grid=4 block=64 args=u1[256]:rand,u4[16]
extern "C" __global__ void histogram_global(const unsigned char *x, unsigned *bins) {
    unsigned bin = x[blockIdx.x * 64 + threadIdx.x] % 16;
    if (BUGGY) bins[bin]++;  // BUG: global-race
    else atomicAdd(&bins[bin], 1u);
}
