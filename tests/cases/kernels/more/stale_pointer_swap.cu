// Two buffers are swapped by their pointers before all have read the old one.
// launch: grid=1 block=64 args=f4[64]:rand,f4[64]
extern "C" __global__ void stale_pointer_swap(const float *x, float *y) {
    __shared__ float a[64], b[64];
    float *from = a, *to = b;
    int t = threadIdx.x;
    a[t] = x[t];
    for (int k = 1; k < 64; k *= 2) {
        if (!BUGGY) __syncthreads();
        to[t] = from[t] + (t >= k ? from[t - k] : 0);  // BUG: shared-race
        float *swap = from;
        from = to;
        to = swap;
    }
    y[t] = from[t];
}
