// The bins of a block's histogram are not set to zero before they count.
// launch: grid=1 block=64 args=i4[64]:rand,i4[16]
extern "C" __global__ void histogram_uncleared(const int *x, int *y) {
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (!BUGGY && t < 16) bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[x[t] & 15], 1);  // BUG: uninitialised-read
    __syncthreads();
    if (t < 16) y[t] = bins[t];
}
