// The sums of a tile of results live in a local array that is not set before products are added.
// launch: grid=1 block=32 args=f4[128]:rand,out:f4[128]
extern "C" __global__ void accumulator(const float *x, float *y) {
    float acc[4];
    int t = threadIdx.x;
#if !BUGGY
    for (int k = 0; k < 4; k++) acc[k] = 0;
#endif
    for (int i = 0; i < 8; i++) {
        int k = ((int)(x[t] * 100) + i) % 4;
        acc[k] += x[4 * t + k];  // BUG: uninitialised-read
    }
    for (int k = 0; k < 4; k++) y[4 * t + k] = acc[((int)(x[t] * 10) + k) % 4];
}
