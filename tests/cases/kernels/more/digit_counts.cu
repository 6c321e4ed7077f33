// Radix sort counts digits per warp; the sum over warps starts before the others have counted.
// launch: grid=2 block=128 args=u4[256]:rand,out:u4[32]
extern "C" __global__ void digit_counts(const unsigned *x, unsigned *y) {
    __shared__ unsigned count[4][16];
    int t = threadIdx.x;
    if (t < 64) (&count[0][0])[t] = 0;
    __syncthreads();
    atomicAdd(&count[t / 32][x[blockIdx.x * 128 + t] & 15], 1);  // OTHER
    if (BUGGY) __syncwarp(); else __syncthreads();
    if (t < 16) {
        unsigned sum = 0;
        for (int w = 0; w < 4; w++) sum += count[w][t];  // BUG: shared-race
        y[blockIdx.x * 16 + t] = sum;
    }
}
