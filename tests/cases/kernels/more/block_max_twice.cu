// A block reduction used twice: the second call overwrites the scratch that slower warps still read.
// launch: grid=1 block=128 args=f4[128]:rand,f4[128]
__device__ float block_max(float v, float *scratch) {
    int t = threadIdx.x;
    for (int d = 16; d; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
    if (t % 32 == 0) scratch[t / 32] = v;  // BUG: shared-race
    __syncthreads();
    float m = scratch[0];  // OTHER
    for (int w = 1; w < 4; w++) m = fmaxf(m, scratch[w]);  // OTHER
    if (!BUGGY) __syncthreads();
    return m;
}
extern "C" __global__ void block_max_twice(const float *x, float *y) {
    __shared__ float scratch[4];
    float m = block_max(x[threadIdx.x], scratch);
    float n = block_max(m - x[threadIdx.x], scratch);
    y[threadIdx.x] = m + n;
}
