// One piece of shared memory is used as floats and then as integers, with a barrier between the two lives.
// launch: grid=1 block=64 args=f4[64]:rand,out:i4[64]
extern "C" __global__ void shared_scratch_view(const float *x, int *y) {
    __shared__ __align__(8) char raw[256];
    float *f = (float *)raw;
    int *i = (int *)raw, t = threadIdx.x;
    f[t] = x[t];
    __syncthreads();
    float v = f[(t + 17) % 64];  // OTHER
    if (!BUGGY) __syncthreads();
    i[t] = v > 0.5f ? t : -t;  // BUG: shared-race
    __syncthreads();
    y[t] = i[63 - t];
}
