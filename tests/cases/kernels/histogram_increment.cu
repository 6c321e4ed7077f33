// Threads of several warps increment one bin by load, add and store, so counts get lost; an atomic keeps them.
// launch: grid=1 block=128 args=u1[128]:rand,out:u4[16]
extern "C" __global__ void histogram_increment(const unsigned char *x, unsigned *bins) {
    __shared__ unsigned count[16];
    if (threadIdx.x < 16) count[threadIdx.x] = 0;
    __syncthreads();
    unsigned bin = x[threadIdx.x] % 16;
#if BUGGY
    count[bin]++;  // BUG: shared-race
#else
    atomicAdd(&count[bin], 1u);
#endif
    __syncthreads();
    if (threadIdx.x < 16) bins[threadIdx.x] = count[threadIdx.x];
}
