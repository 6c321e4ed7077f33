// The block that comes last adds up partial sums that the others have not fenced.
// launch: grid=8 block=64 args=f4[512]:rand,f4[512]:rand,f4[8],f4[1],u4[1]
extern "C" __global__ void dot_last_block(const float *x, const float *y, float *part, float *out, unsigned *done) {
    __shared__ float s[64];
    __shared__ bool last;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = x[i] * y[i];
    for (int h = 32; h; h /= 2) {
        __syncthreads();
        if (t < h) s[t] += s[t + h];
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];  // BUG: global-race
        if (!BUGGY) __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        if (!BUGGY) __threadfence();
        float sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += ((volatile float *)part)[b];  // OTHER
        *out = sum;
    }
}
