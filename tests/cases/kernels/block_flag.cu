// A warp waits for another's flag in shared memory; without fences the flag may be seen before the data.
// launch: grid=1 block=64 args=f4[32]:rand,out:f4[32]
extern "C" __global__ void block_flag(const float *x, float *y) {
    __shared__ float s[32];
    __shared__ volatile int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        s[lane] = x[lane] + 1;  // OTHER
        __syncwarp();
        if (!BUGGY) __threadfence_block();
        if (lane == 0) ready = 1;
    } else {
        while (ready == 0) {}
        if (!BUGGY) __threadfence_block();
        y[lane] = s[31 - lane];  // BUG: shared-race
    }
}
