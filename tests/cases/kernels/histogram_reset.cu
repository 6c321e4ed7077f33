// Bins are set to zero by some warps while others already count: a barrier is missing after the reset.
// launch: grid=2 block=128 args=u1[1024]:rand,u4[64],i4=1024
extern "C" __global__ void histogram_reset(const unsigned char *x, unsigned *bins, int n) {
    __shared__ unsigned count[64];
    if (threadIdx.x < 64) count[threadIdx.x] = 0;  // BUG: shared-race
    if (!BUGGY) __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&count[x[i] % 64], 1u);  // OTHER
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], count[threadIdx.x]);
}
