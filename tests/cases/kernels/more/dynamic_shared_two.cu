// Two arrays in dynamic shared memory: the second starts at an offset in elements taken for bytes.
// launch: grid=1 block=64 shared=512 args=f4[64]:rand,out:f4[64]
extern "C" __global__ void dynamic_shared_two(const float *x, float *y) {
    extern __shared__ char raw[];
    float *a = (float *)raw, *b = (float *)(raw + (BUGGY ? 64 : 256));
    int t = threadIdx.x;
    a[t] = x[t];  // OTHER
    b[63 - t] = 2 * x[t];  // BUG: shared-race
    __syncthreads();
    y[t] = a[t] + b[t];
}
