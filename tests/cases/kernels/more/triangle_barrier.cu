// Forward substitution: threads drop out as rows are done, with the barrier inside the loop over rows.
// launch: grid=1 block=64 args=f4[64]:rand,out:f4[64]
extern "C" __global__ void triangle_barrier(const float *b, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = b[t];
    __syncthreads();
    if (BUGGY) {
        for (int k = 0; k < t; k++) {
            float v = s[k] * 0.01f;
            __syncthreads();  // BUG: barrier-divergence
            s[t] -= v;
        }
    } else {
        for (int k = 0; k < 64; k++) {
            float v = s[k] * 0.01f;
            __syncthreads();
            if (k < t) s[t] -= v;
            __syncthreads();
        }
    }
    y[t] = s[t];
}
