// The programming guide's sum with a counter of finished blocks; the result must be behind a fence when counted.
// launch: grid=8 block=64 args=all:f4[512]:rand,f4[8]
__device__ unsigned int count = 0;
__shared__ bool isLast;
extern "C" __global__ void guide_last_block(const float *x, float *result) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 64 + t];
    for (int h = 32; h > 0; h /= 2) {
        __syncthreads();
        if (t < h) s[t] += s[t + h];
    }
    if (t == 0) {
        result[blockIdx.x] = s[0];  // OTHER
        if (!BUGGY) __threadfence();
        unsigned int value = atomicInc(&count, gridDim.x);
        isLast = value == gridDim.x - 1;
    }
    __syncthreads();
    if (isLast) {
        if (t == 0) {
            float sum = 0;
            for (int b = 0; b < gridDim.x; b++) sum += result[b];  // BUG: global-race
            result[0] = sum;  // OTHER
            count = 0;
        }
    }
}
