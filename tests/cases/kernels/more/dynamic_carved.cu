// Dynamic shared memory is carved into two arrays, and the second begins too early.
// launch: grid=1 block=64 args=f4[64]:rand,f4[64] shared=512
extern "C" __global__ void dynamic_carved(const float *x, float *y) {
    extern __shared__ float pool[];
    float *values = pool;
    float *sums = pool + (BUGGY ? blockDim.x / 4 : blockDim.x);
    int t = threadIdx.x;
    values[t] = x[t];  // BUG: shared-race
    sums[t] = 2 * x[t];  // OTHER
    __syncthreads();
    y[t] = values[63 - t] + sums[63 - t];
}
