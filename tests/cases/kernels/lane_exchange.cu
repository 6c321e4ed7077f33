// Lanes of one warp swap values through shared memory: they need a warp barrier as warps need a block barrier.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[32]
extern "C" __global__ void lane_exchange(const float *x, float *y) {
    __shared__ float s[32];
    s[threadIdx.x] = x[threadIdx.x];  // OTHER
    if (!BUGGY) __syncwarp();
    y[threadIdx.x] = s[threadIdx.x ^ 1];  // BUG: warp-race
}
