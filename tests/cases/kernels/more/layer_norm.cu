// Layer norm by warp sums: mean and variance share the partial sums' array without a barrier between.
// launch: grid=2 block=128 args=f4[256]:rand,out:f4[256]
__device__ float block_sum(float v, float *part) {
    for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(~0u, v, o);
    if (!BUGGY) __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;  // BUG: shared-race
    __syncthreads();
    float sum = 0;
    for (int w = 0; w < 4; w++) sum += part[w];  // OTHER
    return sum;
}
extern "C" __global__ void layer_norm(const float *x, float *y) {
    __shared__ float part[4];
    int i = blockIdx.x * 128 + threadIdx.x;
    float v = x[i];
    float mean = block_sum(v, part) / 128;
    float d = v - mean;
    float var = block_sum(d * d, part) / 128;
    y[i] = d * rsqrtf(var + 1e-5f);
}
