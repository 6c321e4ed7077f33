// With two buffers one barrier a turn is enough, and with one buffer it is not.
// launch: grid=1 block=64 args=f4[512]:rand,out:f4[64]
extern "C" __global__ void double_buffer_one_barrier(const float *x, float *y) {
    __shared__ float s[2][64];
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 8; k++) {
        float *b = s[BUGGY ? 0 : k % 2];
        b[t] = x[64 * k + t];  // BUG: shared-race
        __syncthreads();
        sum += b[63 - t] * b[t ^ 1];  // OTHER
    }
    y[t] = sum;
}
