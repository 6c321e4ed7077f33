// A step of Cholesky's method reads the diagonal that one thread is about to write.
// launch: grid=1 block=64 args=f4[4096]:rand
extern "C" __global__ void cholesky_column(float *a) {
    int t = threadIdx.x;
    for (int k = 0; k < 64; k++) {
        if (t == k) a[k * 64 + k] = sqrtf(fabsf(a[k * 64 + k]) + 64);  // BUG: global-race
        if (!BUGGY) __syncthreads();
        if (t > k) a[t * 64 + k] /= a[k * 64 + k];  // OTHER
        __syncthreads();
        for (int j = k + 1; j <= t; j++) a[t * 64 + j] -= a[t * 64 + k] * a[j * 64 + k];
        __syncthreads();
    }
}
