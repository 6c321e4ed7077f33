// Scratch in global memory is private to a block, whose phases need a barrier of the block as in shared memory.
// launch: grid=2 block=64 args=f4[128]:rand,f4[128],out:f4[128]
extern "C" __global__ void two_phase_global(const float *x, float *scratch, float *y) {
    int t = threadIdx.x;
    float *mine = scratch + blockIdx.x * 64;
    mine[t] = x[blockIdx.x * 64 + t];  // OTHER
    if (BUGGY) __threadfence(); else __syncthreads();
    y[blockIdx.x * 64 + t] = mine[(t + 33) % 64];  // BUG: global-race
}
