// The last block to finish adds the blocks' sums, which need a fence before the counter that announces them.
// launch: grid=6 block=64 args=all:f4[384]:rand,f4[6],u4[1],out:f4[1]
extern "C" __global__ void last_block(const float *x, float *part, unsigned *finished, float *y) {
    __shared__ float s[64];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 64 + t];
    for (int stride = 32; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < stride) s[t] += s[t + stride];
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];  // OTHER
        if (!BUGGY) __threadfence();
        last = atomicAdd(finished, 1) == gridDim.x - 1;
        if (!BUGGY) __threadfence();
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += part[b];  // BUG: global-race
        y[0] = sum;
    }
}
