// Every block adds to a total without a fence before it counts itself as done; the last block reads the total.
// launch: grid=4 block=32 args=f4[128]:rand,f4[1],u4[1],out:f4[1]
extern "C" __global__ void total_then_flag(const float *x, float *total, unsigned *done, float *y) {
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
    if (threadIdx.x == 0) {
        atomicAdd(total, v);  // OTHER
        if (!BUGGY) __threadfence();
        if (atomicAdd(done, 1) == gridDim.x - 1) y[0] = *total;  // BUG: global-race
    }
}
