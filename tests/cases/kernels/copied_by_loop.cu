// Undefined elements are copied from one shared buffer to another in a loop, and only then added up.
// launch: grid=1 block=32 args=f4[20]:rand,out:f4[32]
extern "C" __global__ void copied_by_loop(const float *x, float *y) {
    __shared__ float a[32], b[64];
    int t = threadIdx.x;
    if (t < 20) a[t] = x[t];
    else if (!BUGGY) a[t] = 0;
    __syncthreads();
    float v = a[t];
    for (int k = 0; k < 2; k++) {
        if (k == blockIdx.x % 2) b[32 * k + t] = v;
        else b[32 * k + t] = 1;
    }
    __syncthreads();
    y[t] = b[31 - t] + b[32 + t];  // BUG: uninitialised-read
}
