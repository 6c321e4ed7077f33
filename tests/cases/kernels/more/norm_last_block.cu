// Every thread of a block leaves a value, one thread fences before the others have written.
// launch: grid=6 block=64 args=f4[384]:rand,f4[384],u4[1],f4[1]
extern "C" __global__ void norm_last_block(const float *x, float *part, unsigned *done, float *norm) {
    __shared__ bool last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[i] = x[i] * x[i];  // BUG: global-race
    if (!BUGGY) __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        float sum = 0;
        for (int k = 0; k < gridDim.x * blockDim.x; k++) sum += part[k];  // OTHER
        *norm = sqrtf(sum);
    }
}
