// The same through global memory: lanes of one warp are ordered by nothing but a warp barrier.
// launch: grid=1 block=32 args=f4[32]:rand,f4[32],out:f4[32]
extern "C" __global__ void lane_exchange_global(const float *x, float *swap, float *y) {
    swap[threadIdx.x] = x[threadIdx.x];  // OTHER
    if (!BUGGY) __syncwarp();
    y[threadIdx.x] = swap[31 - threadIdx.x];  // BUG: warp-race
}
