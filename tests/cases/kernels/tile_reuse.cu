// A fast warp loads the next tile while a slow one still sums the old one: a barrier after the sum is missing.
// launch: grid=2 block=64 args=f4[256]:rand,out:f4[128]
extern "C" __global__ void tile_reuse(const float *x, float *y) {
    __shared__ float tile[64];
    float sum = 0;
    for (int base = 0; base < 256; base += 64) {
        tile[threadIdx.x] = x[base + threadIdx.x];  // BUG: shared-race
        __syncthreads();
        for (int i = 0; i < 64; i++) sum += tile[i] * (i + 1);  // OTHER
        if (!BUGGY) __syncthreads();
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
