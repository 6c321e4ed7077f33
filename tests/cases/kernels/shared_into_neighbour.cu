// One element past the end of an array in shared memory lies the next array, which the kernel reads by mistake.
// launch: grid=1 block=64 args=f4[64]:rand,out:f4[64]
extern "C" __global__ void shared_into_neighbour(const float *x, float *y) {
    __shared__ float a[64], b[64];
    int t = threadIdx.x;
    a[t] = x[t];
    b[t] = -x[t];
    __syncthreads();
    y[t] = a[BUGGY ? t + 1 : t] + b[BUGGY ? t + 1 : t];  // BUG: out-of-bounds
}
