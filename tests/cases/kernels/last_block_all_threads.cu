// Every thread stores a part, so every thread needs its fence before thread 0 counts the block as finished.
// launch: grid=4 block=64 args=all:f4[256]:rand,f4[256],u4[1],out:f4[64]
extern "C" __global__ void last_block_all_threads(const float *x, float *part, unsigned *finished, float *y) {
    __shared__ unsigned place;
    int t = threadIdx.x;
    part[blockIdx.x * 64 + t] = 2 * x[blockIdx.x * 64 + t];  // OTHER
    if (!BUGGY) __threadfence();
    __syncthreads();
    if (t == 0) place = atomicAdd(finished, 1);
    __syncthreads();
    if (place != gridDim.x - 1) return;
    if (!BUGGY) __threadfence();
    float sum = 0;
    for (int b = 0; b < gridDim.x; b++) sum += part[64 * b + t];  // BUG: global-race
    y[t] = sum;
}
