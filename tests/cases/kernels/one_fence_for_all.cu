// All threads of a block store, a barrier collects that, and the fence of thread 0 covers all of it.
// launch: grid=4 block=64 args=f4[256]:rand,f4[256],u4[1],out:f4[64]
__device__ volatile int sink;
extern "C" __global__ void one_fence_for_all(const float *x, float *part, unsigned *done, float *y) {
    __shared__ bool last;
    int t = threadIdx.x;
    part[blockIdx.x * 64 + t] = 2 * x[blockIdx.x * 64 + t];  // OTHER
    if (!BUGGY) __syncthreads();
    if (t == 0) {
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    float sum = 0;
    for (int b = 0; b < gridDim.x; b++) sum += part[64 * b + t];  // BUG: global-race
    y[t] = sum;
}
