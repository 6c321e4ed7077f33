// The last statement of a kernel is a block of the even threads with a barrier in it.
// launch: grid=2 block=64 args=f4[128]:rand,f4[128]
extern "C" __global__ void last_barrier_of_even(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = x[i];
    __syncthreads();
    y[i] = s[63 - t];
    if (BUGGY ? t % 2 == 0 : blockIdx.x == 0) {
        y[i] += 1;
        __syncthreads();  // BUG: barrier-divergence
    }
}
