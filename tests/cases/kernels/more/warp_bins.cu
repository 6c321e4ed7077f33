// Every warp counts in bins of its own behind a warp barrier; the block's sum waits for all warps.
// launch: grid=2 block=64 args=u1[256]:rand,u4[8]
extern "C" __global__ void warp_bins(const unsigned char *x, unsigned *y) {
    __shared__ unsigned bins[2][8];
    int t = threadIdx.x, w = t / 32, l = t % 32;
    if (l < 8) bins[w][l] = 0;  // OTHER
    if (!BUGGY) __syncwarp();
    for (int k = 0; k < 2; k++) atomicAdd(&bins[w][x[128 * blockIdx.x + 64 * k + t] % 8], 1u);  // BUG: warp-race
    __syncthreads();
    if (t < 8) atomicAdd(&y[t], bins[0][t] + bins[1][t]);
}
