// Two halves of a buffer take turns, but the copy into the next half starts before all have read from it.
// launch: grid=1 block=64 args=f4[512]:rand,out:f4[64]
extern "C" __global__ void double_buffer(const float *x, float *y) {
    __shared__ float half[2][64];
    int t = threadIdx.x;
    float sum = 0;
    half[0][t] = x[t];
    for (int i = 0; i < 8; i++) {
        if (!BUGGY || i % 2 == 0) __syncthreads();
        if (i < 7) half[(i + 1) % 2][t] = x[64 * (i + 1) + t];  // BUG: shared-race
        sum += half[i % 2][(t + 33) % 64];  // OTHER
    }
    y[t] = sum;
}
