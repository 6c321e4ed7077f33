// A window slides over the input in shared memory: the oldest element is replaced while others still read it.
// launch: grid=1 block=64 args=f4[128]:rand,out:f4[64]
extern "C" __global__ void sliding_window(const float *x, float *y) {
    __shared__ float window[64];
    int t = threadIdx.x;
    float sum = 0;
    window[t] = x[t];
    for (int i = 0; i < 64; i++) {
        __syncthreads();
        sum += window[(t + i) % 64];  // OTHER
        if (!BUGGY) __syncthreads();
        if (t == i) window[i] = x[64 + i];  // BUG: shared-race
    }
    y[t] = sum;
}
