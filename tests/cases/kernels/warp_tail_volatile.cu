// The last warp's steps rely on lanes in lockstep, which volatile does not promise; __syncwarp between them does.
// launch: grid=2 block=128 args=all:f4[256]:rand,out:f4[2]
extern "C" __global__ void warp_tail_volatile(const float *x, float *y) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) {
#if BUGGY
        volatile float *v = s;
        v[t] += v[t + 32];  // OTHER
        v[t] += v[t + 16];  // BUG: warp-race
        v[t] += v[t + 8];  // OTHER
        v[t] += v[t + 4];  // OTHER
        v[t] += v[t + 2];  // OTHER
        v[t] += v[t + 1];  // OTHER
#else
        float sum = s[t] + s[t + 32];
        for (int offset = 16; offset > 0; offset /= 2) {
            s[t] = sum;
            __syncwarp();
            if (t < offset) sum += s[t + offset];
            __syncwarp();
        }
        s[t] = sum;
#endif
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
