// The block's bins are merged into the grid's before every warp has counted: a barrier is missing before the merge.
// launch: grid=2 block=128 args=u1[1024]:rand,u4[64],i4=1024
extern "C" __global__ void histogram_merge(const unsigned char *x, unsigned *bins, int n) {
    __shared__ unsigned count[64];
    if (threadIdx.x < 64) count[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&count[x[i] % 64], 1u);  // OTHER
    if (!BUGGY) __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], count[threadIdx.x]);  // BUG: shared-race
}
