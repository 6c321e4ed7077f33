// The stages of a transform in shared memory need a barrier each.
// launch: grid=1 block=64 args=f4[128]:rand,f4[128]
extern "C" __global__ void fft_stage(const float *x, float *y) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    s[t + 64] = x[t + 64];
    __syncthreads();
    for (int half = 64; half >= 1; half /= 2) {
        int i = t / half * 2 * half + t % half;
        float a = s[i], b = s[i + half];  // OTHER
        s[i] = a + b;  // OTHER
        s[i + half] = a - b;  // BUG: shared-race
        if (!BUGGY) __syncthreads();
    }
    if (BUGGY) __syncthreads();
    y[t] = s[t];
    y[t + 64] = s[t + 64];
}
