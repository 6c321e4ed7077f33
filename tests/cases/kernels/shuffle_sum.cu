// Every warp leaves its sum in shared memory, and the first warp must wait for all before it adds them up.
// launch: grid=2 block=256 args=all:f4[512]:rand,out:f4[2]
extern "C" __global__ void shuffle_sum(const float *x, float *y) {
    __shared__ float partial[8];
    float sum = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;  // OTHER
    if (!BUGGY) __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < 8 ? partial[threadIdx.x] : 0;  // BUG: shared-race
        for (int offset = 4; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
        if (threadIdx.x == 0) y[blockIdx.x] = sum;
    }
}
