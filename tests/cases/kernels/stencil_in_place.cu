// A stencil overwrites its shared input while neighbours of other warps still need the old values.
// launch: grid=1 block=128 args=f4[128]:rand,out:f4[128]
extern "C" __global__ void stencil_in_place(const float *x, float *y) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int step = 0; step < 4; step++) {
        float left = s[t > 0 ? t - 1 : 0], right = s[t < 127 ? t + 1 : 127];  // OTHER
        if (!BUGGY) __syncthreads();
        s[t] = (left + right) / 2;  // BUG: shared-race
        __syncthreads();
    }
    y[t] = s[t];
}
