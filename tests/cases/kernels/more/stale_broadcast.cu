// A pivot is picked by one thread in each step; the others must have used it before the next is picked.
// launch: grid=1 block=32,2 args=f4[64]:rand,out:f4[64]
extern "C" __global__ void stale_broadcast(const float *x, float *y) {
    __shared__ float pivot;
    int t = threadIdx.y * 32 + threadIdx.x;
    float v = x[t];
    for (int k = 0; k < 4; k++) {
        if (t == k) pivot = v;  // BUG: shared-race
        __syncthreads();
        if (t != k) v -= 0.1f * pivot;  // OTHER
        if (!BUGGY) __syncthreads();
    }
    y[t] = v;
}
