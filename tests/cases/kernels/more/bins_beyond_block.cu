// A block zeroes as many bins as it has threads; there are more bins than that.
// launch: grid=2 block=64 args=u1[512]:rand,i4[256]
extern "C" __global__ void bins_beyond_block(const unsigned char *x, int *bins) {
    __shared__ int h[256];
    for (int b = threadIdx.x; b < (BUGGY ? 64 : 256); b += 64) h[b] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += 64) atomicAdd(&h[x[blockIdx.x * 256 + k]], 1);  // BUG: uninitialised-read
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += 64) atomicAdd(&bins[b], h[b]);  // BUG: uninitialised-read
}
