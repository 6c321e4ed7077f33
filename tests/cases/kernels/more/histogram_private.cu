// A private histogram per block is cleared by the first warps and counted into at once by all.
// launch: grid=2 block=128 args=u1[512]:rand,u4[32]
extern "C" __global__ void histogram_private(const unsigned char *x, unsigned *y) {
    __shared__ unsigned bins[32];
    int t = threadIdx.x;
    if (t < 32) bins[t] = 0;  // OTHER
    if (!BUGGY) __syncthreads();
    for (int i = blockIdx.x * 128 + t; i < 512; i += 256) atomicAdd(&bins[x[i] % 32], 1u);  // BUG: shared-race
    __syncthreads();
    if (t < 32) atomicAdd(&y[t], bins[t]);
}
